using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Testing;
using Oracle;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Ida.Scenarios;

/// <summary>What callers, hosts and strangers do to membership besides crashing: calls at awkward moments, probes that lie or fail, frames with values that do not fit.</summary>
internal sealed class OracleSurface
{
    private const string Sizes = "system of ";
    private const string Pairs = "groups of two", AtOnce = "flush reported in the turn of its proposal", DyingLeader = "leader dies as it excludes", LeasesDiffer = "leases of different lengths", Hidden = "a process that nobody can dial", Apart = "a process that alone cannot dial another", Refusing = "a proxy refuses for a moment", Forged = "refusals forged", Ruled = "a rule for joins", Denied = "join denied";

    // Groups that nobody may join, of which the rule cannot tell, and that only the first few may join.
    private const string Closed = "closed", Broken = "broken", Few = "few";
    /// <summary>Part of the message about a process that is in a group which it may not join.</summary>
    public const string InDenied = "is in a group that it may not join:";

    private static readonly GroupOptions Options = new();
    private readonly Ingredients _drawn;
    private readonly SimProbe _probe;
    private OracleCluster _cluster = null!;
    private SimNode _stranger = null!;

    // Not the stranger itself: a registered node can do what a process of the system can, and no frame check can tell it apart.
    private SimNode _guest = null!;
    private readonly bool _pairs, _atOnce, _probed, _differ, _hidden, _apart, _ruled;
    private int _joins, _few;
    private string? _unnamed;

    public OracleSurface(Ingredients drawn, Prng random)
    {
        _drawn = drawn;
        Processes = random.Next(100) switch
        {
            < 15 => 1,
            < 40 => 2,
            < 85 => 5,
            _ => 20,
        };
        Draw(Sizes + Processes);
        bool five = Processes >= 5 && random.Chance(0.5);
        if (five) Draw("five voters");
        bool owns = random.Chance(0.7);
        if (!owns) Draw("behind a proxy");
        Membership = new() { OracleSize = five ? 5 : 3, SnapshotEntries = 4 << random.Next(5), SnapshotKeep = random.Next(9), OwnsAddress = owns };
        _probe = new(number => _cluster.Lives.Find(life => SimProbe.NumberOf(life.Node) == number)?.Node);
        _probed = random.Chance(0.6);
        _pairs = random.Chance(0.5);
        _atOnce = random.Chance(0.5);
        if (_pairs) Draw(Pairs);
        _differ = random.Chance(0.3);
        if (_differ) Draw(LeasesDiffer);
        _hidden = Processes >= 5 && random.Chance(0.2);
        if (_hidden) Draw(Hidden);
        _apart = Processes >= 5 && !_hidden && Membership.SnapshotKeep % 3 == 0;
        if (_apart) Draw(Apart);
        if (owns && Membership.SnapshotKeep % 5 == 2) Membership = Membership with { RefusalsProve = false };
        _ruled = Membership.SnapshotKeep % 4 == 1;
        if (!_ruled) return;
        Draw(Ruled);
        Membership = Membership with { CanJoin = MayJoin };
    }

    public static IReadOnlyList<string> Names { get; } =
    [
        Sizes + 1, Sizes + 2, Sizes + 5, Sizes + 20, "five voters", "behind a proxy", "state saved", "state saved with five voters", "restart", "pause beyond a lease",
        "probe lies", "probe fails", "hostile address", "address that does not parse", "frames of a stranger", "requests repeated", "old view completions", "join cancelled", "leave cancelled",
        "departure", "one suspects for long", "slow handlers suspected",
        Pairs, AtOnce, LeasesDiffer, Hidden, Apart, DyingLeader, "its successor has the exclusion", Refusing, Forged, Ruled, Denied, .. WrongClocks.Names,
    ];

    public int Processes { get; }

    public OracleOptions Membership { get; }

    /// <summary>The options of a life. Where lengths of leases differ, they differ between processes, and between lives of a process.</summary>
    public OracleOptions Shape(SimNode node, OracleOptions plain)
    {
        // Nobody can dial the second oldest, which would vote: it must be a member like the others, and the Oracle must go on without its votes.
        if (_hidden) node.Links.Doubted.Add(Simulation.AddressOf(1));
        // This process can follow the oldest, which leads at first, only if others introduce it.
        if (_apart && node.Address == Simulation.AddressOf(2)) node.Links.Doubted.Add(Simulation.AddressOf(0));
        if (_differ) plain = plain with { LeaseDuration = plain.LeaseDuration * (1 + (SimProbe.NumberOf(node) % 3)) };
        return _probed ? _probe.Shape(node, plain) : plain;
    }

    /// <summary>Whether nobody can dial a process at that address.</summary>
    public bool IsHidden(NodeAddress address) => _hidden && address == Simulation.AddressOf(1);

    /// <summary>Whether one of two cannot dial the other.</summary>
    public bool AreApart(NodeAddress one, NodeAddress other) =>
        _apart && (one, other) is var pair && (pair == (Simulation.AddressOf(0), Simulation.AddressOf(2)) || pair == (Simulation.AddressOf(2), Simulation.AddressOf(0)));

    /// <summary>Whether the Oracle outlives the crash of a process.</summary>
    public Predicate<OracleCluster.Process> Spares { get; set; } = static _ => false;

    /// <summary>A process is registered. In a group of two, only the other member takes part in the flush that excludes one.</summary>
    public void Begin(OracleCluster.Process process)
    {
        process.Groups.ReportsAtOnce = _atOnce;
        if (_pairs) process.Node.Post(() => process.Oracle.Join($"pair{PlaceOf(process) / 2}", Options, ""));
        if (!_ruled) return;
        process.Node.Post(() =>
        {
            foreach (string group in (string[])[Closed, Broken, Few]) process.Oracle.Join(group, Options, "");
        });
    }

    public void Attach(OracleCluster cluster)
    {
        _cluster = cluster;
        _stranger = cluster.Simulation.AddNode("stranger");
        _guest = cluster.Simulation.AddNode("guest");
    }

    public void Draw(string name) => _drawn.Draw(name);

    /// <summary>Notes what the schedule's own events led to, and judges that no process has given way to another system.</summary>
    public void Judge()
    {
        var saved = _cluster.Lives.Where(life => life.Oracle.Replica is { Log.Saved.Index: > 0 }).ToList();
        if (saved.Count > 0) Draw("state saved");
        if (saved.Exists(life => life.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 5)) Draw("state saved with five voters");
        if (_cluster.Lives.Exists(life => life.Groups.ReportedAtOnce > 0)) Draw(AtOnce);
        if (_ruled) JudgeRule();
        // There is only one system, whatever strangers say.
        if (_cluster.Lives.Find(life => life.Groups.Events.Exists(static text => text.Contains("gives way", StringComparison.Ordinal))) is { } led) _cluster.Checker.Violations.Add($"{led.Node.Name} gives way to nobody");
    }

    /// <summary>Nobody does anything odd any more.</summary>
    public void End() => _probe.Now = SimProbe.Mood.Truthful;

    /// <summary>One of the odd things to do around a process, with its name; null if it does not apply now.</summary>
    public (string Name, Action Do)? Next(OracleCluster.Process one, Prng random)
    {
        var oracle = one.Oracle;
        switch (random.Next(12))
        {
            case 0 when _probed:
                return ("probe lies", () => Lie(one));
            case 1 when _probed:
                return ("probe fails", () => Fail(one, random));
            case 0 or 1 when !Membership.OwnsAddress:
                return (Refusing, () => Refuse(one, random));
            case 0 or 1 when !Membership.RefusalsProve && _cluster.Alive.Count() > 2:
                return (Forged, () => Forge(one, random));
            case 2:
                return ("hostile address", () => Hostile(one, random));
            case 3:
                return ("address that does not parse", () => Unparsable(one));
            case 4:
                return ("frames of a stranger", () => Strange(one));
            case 5:
                return ("requests repeated", () => Repeat(one, random));
            case 6 when one.Groups.ViewOf("g") is { } view:
                return ("old view completions", () => one.Node.Post(() =>
                {
                    for (int i = 0; i < 50; i++) oracle.CompleteView(view.Group, view.Id - (ulong)(i % 2), view.Proposal - (ulong)(i % 3), i % 2 == 0 ? [] : [oracle.Self]);
                }));
            case 7:
                return ("join cancelled", () => CancelJoin(one, random));
            case 8 when one.Groups.ViewOf("g") is { } view:
                return ("leave cancelled", () => one.Node.Post(() =>
                {
                    oracle.Leave(view.Group);
                    oracle.Join("g", Options, "");
                    After(random.Next(1, 400), one, () => oracle.Join("g", Options, ""));
                }));
            case 9 when _cluster.Alive.Count() > 2:
                return ("departure", () => one.Node.Post(oracle.Depart));
            case 10 when _cluster.Alive.Count() > 1:
                bool slow = random.Chance(0.5);
                var other = _cluster.Alive.First(process => process != one).Oracle.Self;
                return (slow ? "slow handlers suspected" : "one suspects for long", () =>
                {
                    one.Node.Post(() => oracle.Suspect(other, slow ? Suspicion.Slow : Suspicion.FlushStall));
                    After(random.Next(500, 9_000), one, () => oracle.Withdraw(other));
                });
            case 11 when _cluster.Leader is { } leader && Spares(leader) && Successor(leader) is { } successor && Partner(successor, leader) is { } victim:
                return (DyingLeader, () => Die(leader, successor, victim, random));
            default: return null;
        }
    }

    /// <summary>The rule of all processes, asked by whichever leads.</summary>
    private bool MayJoin(NodeIdentity identity, string group)
    {
        if (!identity.Name.StartsWith("sim:", StringComparison.Ordinal)) _unnamed = identity.Name;
        return group switch
        {
            Broken => throw new InvalidOperationException("The rule is broken."),
            Few => ++_few <= 3,
            _ => group != Closed,
        };
    }

    /// <summary>Nobody is in a group that it may not join, nor in one that it was refused; each of these is asked for once in a life.</summary>
    private void JudgeRule()
    {
        if (_unnamed is not null) _cluster.Checker.Violations.Add($"the rule was asked about '{_unnamed}'");
        foreach (var life in _cluster.Lives)
        {
            bool IsRefused(string group) => life.Groups.Refused.Exists(text => text.StartsWith($"{group}: ", StringComparison.Ordinal));
            if (IsRefused(Closed)) Draw(Denied);
            foreach (string group in (string[])[Closed, Broken, Few])
                if (life.Groups.Joined.Contains(group) && (group != Few || IsRefused(Few))) _cluster.Checker.Violations.Add($"{life.Node.Name} {InDenied} '{group}'");
        }
    }

    private int PlaceOf(OracleCluster.Process process) => _cluster.Lives.Select(life => life.Node.Address).Distinct().ToList().IndexOf(process.Node.Address);

    /// <summary>A voter that may lead next.</summary>
    private OracleCluster.Process? Successor(OracleCluster.Process leader) =>
        _cluster.Alive.LastOrDefault(process => process != leader && leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id));

    private OracleCluster.Process? Partner(OracleCluster.Process one, OracleCluster.Process leader) =>
        _cluster.Alive.FirstOrDefault(process => process != one && process != leader && PlaceOf(process) / 2 == PlaceOf(one) / 2);

    /// <summary>
    /// Only the leader reaches the victim, and has it excluded. The leader dies when one voter, at times the only one, has the exclusion in its log. The others then begin with
    /// the exclusion of a process that holds a lease.
    /// </summary>
    private void Die(OracleCluster.Process leader, OracleCluster.Process successor, OracleCluster.Process victim, Prng random)
    {
        var network = _cluster.Simulation.Network;
        network.Heal();
        bool alone = random.Chance(0.7);
        foreach (var other in _cluster.Alive.Where(other => other != victim))
        {
            if (alone && other != successor && other != leader) network.Cut(leader.Node, other.Node);
            other.Node.Post(() => other.Oracle.Suspect(victim.Oracle.Self, Suspicion.FlushStall));
            After(3_000, other, () => other.Oracle.Withdraw(victim.Oracle.Self));
            if (other == leader) continue;
            network.Cut(victim.Node, other.Node);
            network.Cut(other.Node, victim.Node);
        }
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(2_000, 5_000)), network.Heal);
        var log = successor.Oracle.Replica?.Log;
        if (log is null || !_cluster.RunUntil(() => !leader.Node.Alive || Excludes(log), 1.5) || !leader.Node.Alive) return;
        Draw("its successor has the exclusion");
        leader.Node.Crash();
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(10, 4_000)), () => _cluster.Restart(leader).StartAt(TimeSpan.Zero));
    }

    /// <summary>Whether the last entry of a log excludes somebody and is not known to be committed.</summary>
    internal static bool Excludes(ReplicatedLog log) => log.Entries.LastIndex > log.Commit && log.Entries[log.Entries.LastIndex] is { Kind: EntryKind.Operations } entry
        && OperationCodec.ReadEntry(entry.Content).Exists(static request => request.Operation is Exclude);

    private void After(long milliseconds, OracleCluster.Process one, Action action) =>
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(milliseconds), () =>
        {
            if (one.Node.Alive) one.Node.Post(action);
        });

    /// <summary>Connections break between processes that all live and reach each other, while the process table shows none of them.</summary>
    private void Lie(OracleCluster.Process one)
    {
        _cluster.Simulation.Network.Heal();
        _cluster.Run(0.3);
        if (_cluster.Alive.Any(process => process.Node.PausedUntil > _cluster.Simulation.Time)) return;
        _probe.Now = SimProbe.Mood.SaysGone;
        foreach (var other in _cluster.Alive.Where(other => other != one)) _cluster.Simulation.Network.Break(one.Node, other.Node);
        _cluster.Run(0.3);
        _probe.Now = SimProbe.Mood.Truthful;
    }

    private void Fail(OracleCluster.Process one, Prng random)
    {
        _probe.Now = SimProbe.Mood.Fails;
        foreach (var other in _cluster.Alive.Where(other => other != one)) _cluster.Simulation.Network.Break(one.Node, other.Node);
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(100, 3_000)), End);
    }

    /// <summary>
    /// The proxy in front of a process restarts: dials to it are refused for a moment, while the process answers over all connections that it dialled itself. It must not be
    /// excluded for that; not judged unless the system is settled before, and clocks are as good as leases need.
    /// </summary>
    private void Refuse(OracleCluster.Process one, Prng random)
    {
        _cluster.Simulation.Network.Heal();
        _cluster.Run(3);
        var self = one.Oracle.Self;
        if (_cluster.Leader is not { Oracle.Replica: { } replica } || replica.Services.IsTold || !replica.State.IsAlive(self) || !_cluster.Settled("g")) return;
        var others = _cluster.Alive.Where(other => other != one).ToList();
        foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(self, Suspicion.Refused));
        _cluster.Run(random.Next(10, 100) / 1_000.0);
        // Wrong clocks may have made the moment as long as they like.
        if ((!replica.State.IsAlive(self) || replica.Services.IsExcluding(self)) && _cluster.Checker.LeasesHold) _cluster.Checker.Violations.Add($"{self} goes for a moment in which its proxy refused");
        foreach (var other in others.Where(other => other.Node.Alive)) other.Node.Post(() => other.Oracle.Withdraw(self));
    }

    /// <summary>Somebody on the network cuts a process off and refuses in its name. It lives and holds its lease, so the views without it must wait for that.</summary>
    private void Forge(OracleCluster.Process one, Prng random)
    {
        var self = one.Oracle.Self;
        var others = _cluster.Alive.Where(other => other != one).ToList();
        _cluster.Simulation.Network.Partition([one.Node], others.ConvertAll(static other => other.Node));
        foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(self, random.Chance(0.7) ? Suspicion.Refused : Suspicion.Replaced));
        foreach (var other in others) After(3_000, other, () => other.Oracle.Withdraw(self));
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(100, 4_000)), _cluster.Simulation.Network.Heal);
    }

    private void Hostile(OracleCluster.Process one, Prng random)
    {
        for (int i = 0; i < 20; i++)
        {
            var other = new Replica(random.NextUInt64() | 1, new($"10.9.{random.Next(250)}.{random.Next(250)}:7700"));
            Say(one, new IndirectProbeFrame(false, other.Node));
            Say(one, new ResponseFrame(1, ResponseStatus.NotLeader, OperationResult.Completed, other));
            Say(one, new SyncAnswer(new([other], []), other, [], ""));
            Say(one, new LeaseGrant(one.Node.Node.Now, new([other], []), 1, [new(new(other.Node, 5), other.Address, 1, 1)]));
            Say(one, new ProposeFrame(new(new(1, 1), 1 << 20, 1, [one.Oracle.Self], [], [])));
        }
        // Nobody listens there: the guest is registered, watched, and gone again.
        Say(_guest, one, new RequestFrame(new(new(_guest.Id, 0), 0, 1, new Register(_guest.Id, new("10.9.9.9:7700"), "", "", 0, 0, Durations.Second))), one.Oracle.System);
    }

    private void Unparsable(OracleCluster.Process one)
    {
        foreach (string text in (string[])["x", "", "127.0.0.1", "10.0.0.1:0", "10.0.0.1:99999", "no.such.host:1"])
        {
            var other = new Replica(7, new(text));
            Say(one, new RequestFrame(new(new(_stranger.Id, 0), 0, 1, new Register(_stranger.Id, other.Address, "", "", 0, 0, Durations.Second))));
            Say(one, new OracleIs(new([other], []), other));
            Say(one, new SyncAnswer(new([], [other]), default, [], ""));
            Say(one, new InstallFrame(new(new(1, 1), "g", 1 << 20, 1, Options, [new(one.Oracle.Self, other.Address, true, "")], [], [], [], [])));
        }
    }

    private void Strange(OracleCluster.Process one)
    {
        var self = one.Oracle.Self;
        Say(one, new ExcludedFrame(self, "go"));
        Say(one, new SyncAnswer(new([new(_stranger.Id, _stranger.Address)], []), new(_stranger.Id, _stranger.Address), [.. one.Groups.Groups.Where(group => group.View is not null).Select(group => group.View!.Group)], "over"));
        Say(one, new InstallFrame(new(new(1, 1), "g", 1 << 20, 1, Options, [new(self, one.Node.Address, true, "")], [], [], [], [])));
        Say(one, new SuspectFrame(self, false, Suspicion.ProcessGone, 0));
        Say(one, new RequestFrame(new(self, 1, ulong.MaxValue, new Depart(true))));
        Say(one, new IndirectProbeFrame(true, one.Node.Id));
        Say(one, new ProbeFrame(false, 1), new SystemId(1, 2));
        if (Processes == 1) Say(one, new OracleIs(new([LogBus.ReplicaOf(7), LogBus.ReplicaOf(8)], []), default), new SystemId(1, 2));
        Say(one, new VoteRequest(false, 1UL << 62, 1UL << 62, 1UL << 62, true));
    }

    private void Repeat(OracleCluster.Process one, Prng random)
    {
        long every = random.Next(1, 50);
        for (int i = 0; i < 40; i++)
        {
            After(i * every, one, () =>
            {
                one.Oracle.Join("g", Options, "");
                foreach (var group in one.Groups.Groups.ToList())
                {
                    if (group.View is { } view) one.Oracle.RequestView(view.Group);
                    if (group.View is { } known) one.Oracle.Sync(known.Group, known.Id, group.Wedge?.Number ?? 0);
                }
            });
        }
    }

    /// <summary>What a cancelled join does: it leaves the group as soon as that is known.</summary>
    private void CancelJoin(OracleCluster.Process one, Prng random)
    {
        string name = $"h{_joins++ % 3}";
        one.Node.Post(() => one.Oracle.Join(name, Options, ""));
        After(random.Next(0, 60), one, () =>
        {
            foreach (var (accepted, group) in one.Groups.Accepted)
                if (accepted == name) one.Oracle.Leave(group);
        });
    }

    private void Say(OracleCluster.Process to, IFrame frame) => Say(to, frame, to.Oracle.System);

    private void Say(OracleCluster.Process to, IFrame frame, SystemId system) => Say(_stranger, to, frame, system);

    /// <summary>A node that may be of no system sends a frame to a process.</summary>
    internal static void Say(SimNode from, OracleCluster.Process to, IFrame frame, SystemId system) => from.Post(() =>
    {
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(frame.Fields + 2);
        writer.WriteUInt(system.High);
        writer.WriteUInt(system.Low);
        frame.Write(ref writer);
        writer.Flush();
        var links = from.Node.Links;
        int peer = links.Open(to.Node.Address), size = FrameHeader.Size + buffer.WrittenCount;
        var room = links.Reserve(size);
        FrameHeader.Write(room, frame.Type, 0, 0, buffer.WrittenCount);
        buffer.WrittenSpan.CopyTo(room[FrameHeader.Size..]);
        links.Send(peer, size);
    });
}
