using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>What a random schedule is made of: weights of the things that happen to a group.</summary>
internal sealed record GroupSchedule
{
    /// <summary>The message about members that do not come to rest.</summary>
    public const string NotSettled = "members stay wedged or without state";

    public int Members { get; init; } = 4;

    public double Seconds { get; init; } = 2;

    /// <summary>Mean time between actions of callers, in microseconds.</summary>
    public int CallEvery { get; init; } = 3_000;

    /// <summary>Mean time between faults, in milliseconds.</summary>
    public int FaultEvery { get; init; } = 250;

    public int Crash { get; init; } = 3;

    public int FalseSuspicion { get; init; } = 3;

    public int Join { get; init; } = 4;

    public int Leave { get; init; } = 2;

    public int Slow { get; init; } = 4;

    public int Break { get; init; } = 3;

    public int Partition { get; init; } = 1;

    public int Refresh { get; init; } = 2;

    public int Peer { get; init; } = 20;

    public int Fifo { get; init; } = 40;

    public int Ordered { get; init; } = 40;

    public int Flush { get; init; } = 4;

    public int Large { get; init; } = 1;

    public int Hops { get; init; } = 4;

    public int StateBytes { get; init; } = 600_000;

    /// <summary>Messages of a sender, or positions, after which a view ends in the seeds with short views.</summary>
    public uint ShortView { get; init; } = 40;

    /// <summary>Probability that a caller that flushed is excluded or crashes right after (B3).</summary>
    public double FailAfterFlush { get; init; } = 0.2;

    /// <summary>Probability that the sequencer fails together with such a caller: the order that both knew must have reached others (B3).</summary>
    public double SequencerFailsToo { get; init; }

    /// <summary>Probability that a member hears the first sequencer late: order records take long, data does not.</summary>
    public double SlowSequencer { get; init; }

    /// <summary>Probability that two members fail at once, so that what few had received is lost.</summary>
    public double FailTogether { get; init; } = 0.3;

    /// <summary>How many times slower a way between two members becomes when a schedule slows it down.</summary>
    public double SlowFactor { get; init; } = 40;

    /// <summary>Runs one schedule; without a violation all is well.</summary>
    public GroupOutcome Run(SimulationCase run, string? without = null, Action<string>? log = null)
    {
        // In every third seed views are short, so that their ends come amid everything else.
        var cluster = new GroupCluster(run.Start(), Members, without, run.Seed % 2 == 0 ? Composition.HotSwap : Composition.Shift,
            beforeMembers: c => c.HostOptions = run.Seed % 3 == 0 ? new() { ViewRecords = ShortView } : null) { StateBytes = StateBytes };
        cluster.Oracle.Log = log;
        var simulation = cluster.Simulation;
        try
        {
            simulation.Run(TimeSpan.FromMilliseconds(50));
            for (int i = 1; i < simulation.Nodes.Count; i++)
                if (SlowSequencer > 0 && simulation.Random.Chance(SlowSequencer)) simulation.Network.Slow(simulation.Nodes[0], simulation.Nodes[i], SlowFactor);
            Spawn(cluster, Calls(cluster, run));
            Spawn(cluster, Faults(cluster, run));
            simulation.Run(TimeSpan.FromSeconds(Seconds));
            simulation.Network.Heal();
            foreach (var a in simulation.Nodes)
                foreach (var b in simulation.Nodes)
                    if (a != b) simulation.Network.Slow(a, b, 1);
            bool settled = cluster.Settle(20);
            // Each short view takes only some of the calls that wait, so a schedule is at rest only when no call is queued.
            simulation.RunUntil(() => cluster.Members.TrueForAll(m => !m.Usable || m.Group!.Protocol.Backlog.Calls == 0), TimeSpan.FromSeconds(60));
            simulation.Run(TimeSpan.FromSeconds(3));
            if (cluster.Oracle.Find("g")!.Lost) return new(cluster.Verdict(atRest: false), cluster.Checker.Deliveries, cluster.Oracle.Installs);
            string? verdict = cluster.Verdict();
            if (!settled) verdict = $"{NotSettled}: {string.Join("; ", cluster.Usable.Select(m => m.Group!.Protocol))}\n{verdict}";
            if (verdict is null && without is null && cluster.Members.Any(m => m.SimNode.Alive && Offences.Of(m.SimNode.Node.Counters) > 0)) verdict = "frames that no node sends";
            return new(verdict, cluster.Checker.Deliveries, cluster.Oracle.Installs);
        }
        catch (SimulationException broken)
        {
            return new(broken.ToString(), 0, 0);
        }
    }

    private static void Spawn(GroupCluster cluster, Func<Task> body) => _ = cluster.Simulation.Spawn(body);

    private Func<Task> Calls(GroupCluster cluster, SimulationCase run) => async () =>
    {
        var random = cluster.Simulation.Random.Fork();
        double end = Seconds;
        while (cluster.Simulation.Now.TotalSeconds < end)
        {
            await cluster.Simulation.Delay(TimeSpan.FromMicroseconds(random.Next(1, 2 * CallEvery)));
            var usable = cluster.Usable;
            if (usable.Count == 0) continue;
            foreach (var one in usable) one.NoteSent();
            var member = usable[random.Next(usable.Count)];
            int burst = random.Chance(0.1) ? random.Next(1, 30) is var n ? (int)n : 1 : 1;
            int what = random.Next(Peer + Fifo + Ordered + Flush + Large);
            for (int i = 0; i < burst; i++)
            {
                if (what < Peer) _ = member.SendToSomeoneAsync(random, random.Next(Hops + 1));
                else if (what < Peer + Fifo) _ = member.SendAsync(ordered: false);
                else if (what < Peer + Fifo + Ordered) _ = member.SendAsync(ordered: true);
                else if (what < Peer + Fifo + Ordered + Flush) _ = FlushAsync(cluster, member, random, run);
                else if (i == 0) _ = member.SendAsync(random.Chance(0.5), (int)random.Next(60_000, 400_000));
            }
        }
    };

    private async Task FlushAsync(GroupCluster cluster, TestMember member, Prng random, SimulationCase run)
    {
        bool fail = random.Chance(FailAfterFlush);
        if (!await member.FlushAsync() || !fail || !MayFail(cluster, 1) || !run.Happens($"{member.Id} fails after its flush at {cluster.Simulation.Now}")) return;
        if (random.Chance(0.5)) member.Crash();
        if (random.Chance(SequencerFailsToo) && MayFail(cluster, 2) && cluster.Usable.Where(one => one != member).MinBy(one => one.Group!.Rank) is { } first)
        {
            first.Crash();
            cluster.Oracle.Fail(member.Membership, first.Membership);
            return;
        }
        cluster.Oracle.Fail(member.Membership);
    }

    private static bool MayFail(GroupCluster cluster, int count) =>
        cluster.Members.Count(m => m.Usable && !m.Membership.Failed && (cluster.Oracle.Find("g")?.Members.Exists(x => x.Id == m.Id && x.Initialised) ?? false)) > count;

    private Func<Task> Faults(GroupCluster cluster, SimulationCase run) => async () =>
    {
        var random = cluster.Simulation.Random.Fork();
        var simulation = cluster.Simulation;
        double end = Seconds;
        while (simulation.Now.TotalSeconds < end)
        {
            await simulation.Delay(TimeSpan.FromMicroseconds(random.Next(1, 2_000L * FaultEvery)));
            var details = random.Fork();
            int what = random.Next(Crash + FalseSuspicion + Join + Leave + Slow + Break + Partition + Refresh);
            var usable = cluster.Usable;
            if (usable.Count == 0) continue;
            var member = usable[details.Next(usable.Count)];
            var other = usable[details.Next(usable.Count)];
            bool Happens(string name, TestMember? second = null) => run.Happens($"{name} {member.Id}{(second is null ? "" : $" {second.Id}")} at {simulation.Now}");
            if ((what -= Crash) < 0)
            {
                if (Happens("crash")) await FailSome(cluster, details, crash: true);
            }
            else if ((what -= FalseSuspicion) < 0)
            {
                if (Happens("suspicion")) await FailSome(cluster, details, crash: false);
            }
            else if ((what -= Join) < 0)
            {
                if (cluster.Members.Count < Members + 8 && Happens("join beside")) cluster.Add();
            }
            else if ((what -= Leave) < 0)
            {
                if (MayFail(cluster, 2) && Happens("leave of")) _ = simulation.Spawn(member.LeaveAsync);
            }
            else if ((what -= Slow) < 0)
            {
                double factor = details.Chance(0.5) ? 1 : SlowFactor;
                if (other != member && Happens($"{factor} times slower", other)) simulation.Network.Slow(member.SimNode, other.SimNode, factor);
            }
            else if ((what -= Break) < 0)
            {
                if (other != member && Happens("break", other)) simulation.Network.Break(member.SimNode, other.SimNode);
            }
            else if ((what -= Partition) < 0)
            {
                if (!Happens("partition of")) continue;
                simulation.Network.Partition([member.SimNode]);
                await simulation.Delay(TimeSpan.FromMilliseconds(details.Next(10, 200)));
                simulation.Network.Heal();
            }
            else if (cluster.Oracle.Find("g") is { } group && Happens("view requested by")) cluster.Oracle.RequestView(group.Id);
        }
    };

    private async Task FailSome(GroupCluster cluster, Prng random, bool crash)
    {
        int count = random.Chance(FailTogether) ? 2 : 1;
        for (int i = 0; i < count; i++)
        {
            var usable = cluster.Usable.Where(m => !m.Membership.Failed).ToList();
            if (usable.Count == 0 || !MayFail(cluster, 1)) return;
            var member = usable[random.Next(usable.Count)];
            if (crash)
            {
                member.Crash(random.Chance(0.5));
                cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(1, 100)), () => cluster.Oracle.Fail(member.Membership));
            }
            else cluster.Oracle.Fail(member.Membership);
            if (random.Chance(0.5)) await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(random.Next(1, 60)));
        }
    }
}
