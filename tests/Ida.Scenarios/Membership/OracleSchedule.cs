using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Oracle;
using Oracle.Raft;

namespace Ida.Scenarios;

/// <summary>
/// A random schedule over one group: crashes with and without resets, new lives, partitions, pauses, false suspicions, leaves and
/// requested views, with the Oracle growing and replacing voters all the while; then everything heals and must settle.
/// </summary>
internal sealed class OracleSchedule : IDisposable
{
    /// <summary>Beginning of the message about a group that does not come to rest, though the Oracle can decide.</summary>
    public const string NotSettled = "liveness: ";

    private static readonly GroupOptions Options = new();
    private readonly SimulationCase _run;
    private readonly OracleCluster _cluster;
    private readonly Prng _random;
    private readonly OracleSurface? _surface;
    private readonly WrongClocks? _clocks;
    private TimeSpan _rejoin;

    public OracleSchedule(SimulationCase run, string? without = null, bool wild = false, Ingredients? surface = null, bool trustsClocks = false)
    {
        _run = run;
        var simulation = run.Start();
        _random = simulation.Random;
        _surface = surface is null ? null : new(surface, _random);
        _cluster = new(simulation, _surface?.Processes ?? 6, seeds: 1, without, _surface?.Membership ?? new() { SnapshotEntries = 64, SnapshotKeep = 8 }, _surface is null ? null : _surface.Shape);
        _surface?.Attach(_cluster);
        if (_surface is not null) _surface.Spares = SparesOracle;
        if (surface is not null) _clocks = WrongClocks.Draw(run, _cluster, surface, trustsClocks);
        Wild = wild;
    }

    /// <summary>Crashes without regard for the voters: the Oracle may be lost, agreement may not.</summary>
    public bool Wild { get; }

    public OracleCluster Cluster => _cluster;

    public bool OracleLost { get; private set; }

    /// <summary>Runs it; null when all is well, else what was violated.</summary>
    public string? Run(int events = 25)
    {
        OracleCluster cluster = _cluster;
        cluster.OnActive = process =>
        {
            process.Node.Post(() => process.Oracle.Join("g", Options, ""));
            _surface?.Begin(process);
        };
        cluster.StartAll(TimeSpan.FromMilliseconds(500));
        cluster.Run(2);
        for (int i = 0; i < events && cluster.Checker.Violations.Count == 0; i++)
        {
            Event();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(_random.Next(1, 1_500)));
            Revive();
        }
        _surface?.End();
        _clocks?.End();
        _surface?.Judge();
        cluster.Simulation.Network.Heal();
        bool settled = cluster.RunUntil(() => cluster.Checker.Violations.Count > 0 || ReviveAndSettled(), 40);
        if (cluster.Checker.Violations.Count > 0) return string.Join("; ", cluster.Checker.Violations.Take(3));
        // It may be only after all looked settled that a voter is excluded, and the leader is dead with that.
        bool rests = !settled || _surface is null || cluster.RunUntil(IsAtRest, 15);
        OracleLost = !(settled && rests) && (MajorityIsDead() || IsLeftToHidden());
        // With the surface there are strangers.
        if (_surface is null && cluster.Lives.Find(static life => Offences.Of(life.Node.Node.Counters) > 0) is { } victim) return $"{victim.Node.Name} was sent frames that no node sends";
        if (!rests && !OracleLost) return cluster.Leader is { } leader ? $"no rest: the leader holds {leader.Oracle.Replica!.Services.Held}, and the Oracle is {leader.Oracle.Replica!.Log.Entries.Configuration}" : $"there was a leader, and is none: {cluster.Describe()}";
        return settled || OracleLost ? null : $"{NotSettled}{cluster.Describe()}";
    }

    public void Dispose() => _cluster.Dispose();

    /// <summary>Whether no request waits for an answer, there are no more leases than living processes, and the Oracle has its size.</summary>
    private bool IsAtRest()
    {
        Revive();
        return _cluster.Leader is { Oracle.Replica.Services.Held: { Requests: 0 } held } leader && held.Leases <= _cluster.Alive.Count() && HasItsSize(leader);
    }

    /// <summary>
    /// Whether as many processes vote as should, all of them living and the leader among them. Not judged while a living process is hidden or two are apart, or while the leader
    /// is not connected to all that live and so cannot take the voters that it needs.
    /// </summary>
    private bool HasItsSize(OracleCluster.Process leader)
    {
        var replica = leader.Oracle.Replica!;
        var alive = _cluster.Alive.ToList();
        var voters = replica.Log.Entries.Configuration.Voters;
        if (_surface is { } surface && alive.Exists(one => surface.IsHidden(one.Node.Address) || alive.Exists(other => surface.AreApart(one.Node.Address, other.Node.Address)))) return true;
        if (!alive.TrueForAll(process => process == leader || leader.Node.Links.Ends.Any(end => end.Connected && end.NodeId == process.Node.Id))) return true;
        int target = alive.Count < 3 ? 1 : alive.Count < 5 ? 3 : replica.Log.Options.OracleSize;
        return voters.Count == target && replica.Log.IsVoter && voters.All(voter => alive.Exists(process => process.Node.Id == voter.Node));
    }

    private bool ReviveAndSettled()
    {
        Revive();
        if (_cluster.Simulation.Now > _rejoin)
        {
            // Processes that left, or lost their group, come back.
            _rejoin = _cluster.Simulation.Now + TimeSpan.FromSeconds(1);
            foreach (var process in _cluster.Alive)
                if (process.Oracle.State == MembershipState.Active && process.Groups.ViewOf("g") is null) process.Node.Post(() => process.Oracle.Join("g", Options, ""));
        }
        return _cluster.Settled("g");
    }

    /// <summary>Excluded processes begin a new life.</summary>
    private void Revive()
    {
        foreach (var process in _cluster.Lives.ToList())
        {
            bool latest = _cluster.Lives.Last(life => life.Node.Address == process.Node.Address) == process;
            if (latest && process.Node.Alive && process.Oracle.State == MembershipState.Excluded) _cluster.Restart(process).StartAt(TimeSpan.Zero);
        }
    }

    private void Event()
    {
        var alive = _cluster.Alive.ToList();
        if (_surface is not null && alive.Count > 0 && _random.Chance(0.5))
        {
            Odd(_surface, alive[_random.Next(alive.Count)]);
            return;
        }
        if (alive.Count < 2) return;
        var one = alive[_random.Next(alive.Count)];
        var other = alive[_random.Next(alive.Count)];
        int what = _random.Next(9);
        var details = _random.Fork();
        bool Happens(string name) => _run.Happens($"{name} {one.Node.Name} at {_cluster.Simulation.Now}");
        switch (what)
        {
            case 0 or 1 when Wild || SparesOracle(one):
                if (!Happens("crash")) break;
                one.Node.Crash(details.Chance(0.7));
                _surface?.Draw("restart");
                _cluster.Simulation.After(TimeSpan.FromMilliseconds(details.Next(10, 4_000)), () => _cluster.Restart(one).StartAt(TimeSpan.Zero));
                break;
            case 2:
                if (!Happens("pause")) break;
                var pause = TimeSpan.FromMilliseconds(details.Next(100, 6_000));
                if (pause > _cluster.Options.LeaseDuration) _surface?.Draw("pause beyond a lease");
                one.Node.Pause(pause);
                break;
            case 3:
                if (Happens("partition, asked for with")) Partition(details);
                break;
            case 4:
                if (Happens("heal, asked for with")) _cluster.Simulation.Network.Heal();
                break;
            case 5:
                if (!Happens("all suspect")) break;
                foreach (var suspecting in alive)
                {
                    if (suspecting == one) continue;
                    suspecting.Node.Post(() => suspecting.Oracle.Suspect(one.Oracle.Self, Suspicion.FlushStall));
                    _cluster.Simulation.After(TimeSpan.FromSeconds(3), () => suspecting.Node.Post(() => suspecting.Oracle.Withdraw(one.Oracle.Self)));
                }
                break;
            case 6:
                if (one.Groups.ViewOf("g") is { } view && Happens("view requested by")) one.Node.Post(() => one.Oracle.RequestView(view.Group));
                break;
            case 7:
                if (one.Groups.ViewOf("g") is { } left && Happens("leave of"))
                {
                    one.Node.Post(() => one.Oracle.Leave(left.Group));
                    _cluster.Simulation.After(TimeSpan.FromSeconds(2), () => one.Node.Post(() => one.Oracle.Join("g", Options, "")));
                }
                break;
            default:
                if (details.Chance(0.4) && Happens($"dials refused by {other.Node.Name} of")) _cluster.Simulation.Network.LetDial(one.Node, other.Node, lets: false);
                else if (Happens($"cut to {other.Node.Name} from")) _cluster.Simulation.Network.Cut(one.Node, other.Node);
                break;
        }
    }

    private void Odd(OracleSurface surface, OracleCluster.Process one)
    {
        if (surface.Next(one, _random.Fork()) is not { } odd || !_run.Happens($"{odd.Name} {one.Node.Name} at {_cluster.Simulation.Now}")) return;
        surface.Draw(odd.Name);
        odd.Do();
    }

    private void Partition(Prng random)
    {
        var (left, right) = (new List<SimNode>(), new List<SimNode>());
        foreach (var process in _cluster.Alive) (random.Chance(0.5) ? left : right).Add(process.Node);
        if (left.Count == 0 || right.Count == 0) return;
        _cluster.Simulation.Network.Partition(left, right);
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(100, 6_000)), _cluster.Simulation.Network.Heal);
    }

    /// <summary>
    /// Whether no living replica has a majority of its voters left that would elect it; voters with a longer log would not. Then nothing can be decided
    /// (oracle.md#without-contact-a-process-blocks-then-ends). A replica that was cut off may still count on voters that others have replaced since.
    /// </summary>
    private bool MajorityIsDead()
    {
        foreach (var process in _cluster.Alive)
        {
            if (process.Oracle.Replica?.Log.Entries is not { Configuration: { Voters.Count: > 0 } configuration } log) continue;
            if (IsMajority(configuration, replica => _cluster.Alive.Any(other => other.Node.Id == replica.Node && !IsAhead(other, log)))) return false;
        }
        return true;
    }

    private static bool IsAhead(OracleCluster.Process process, EntryLog of) =>
        process.Oracle.Replica?.Log.Entries is { } own && (own.LastTerm, own.LastIndex).CompareTo((of.LastTerm, of.LastIndex)) > 0;

    /// <summary>Whether only voters are left that nobody can dial: then no newcomer can be told which process leads (the guide, membership).</summary>
    private bool IsLeftToHidden() =>
        _surface is { } surface && _cluster.Leader?.Oracle.Replica is { } replica && replica.Log.Entries.Configuration.Voters.All(voter => surface.IsHidden(voter.Address));

    /// <summary>Whether a majority of the voters outlives the crash of a process.</summary>
    private bool SparesOracle(OracleCluster.Process victim)
    {
        if (_cluster.Leader?.Oracle.Replica is not { } replica) return false;
        // A leader that is deposed and does not know it yet knows only the voters of its own time.
        if (_cluster.Alive.Any(process => process.Oracle.Replica is { } other && other.Log.Term > replica.Log.Term)) return false;
        return IsMajority(replica.Log.Entries.Configuration,
            other => other.Node != victim.Node.Id && replica.State.FindNode(other.Node) is { Alive: true } && _cluster.Alive.Any(process => process.Node.Id == other.Node));
    }

    /// <summary>
    /// Whether the live replicas include a majority of the voters. If just two replicas are live and one cannot dial the other, only one counts, since no third can introduce it
    /// (the guide, membership).
    /// </summary>
    private bool IsMajority(Configuration configuration, Predicate<Replica> live)
    {
        int voters = configuration.Voters.Count(voter => live(voter));
        var addresses = configuration.Voters.Concat(configuration.Learners).Where(replica => live(replica)).Select(replica => replica.Address).ToList();
        if (_surface is { } surface && addresses.Count == 2 && surface.AreApart(addresses[0], addresses[1])) voters--;
        return voters > configuration.Voters.Count / 2;
    }
}
