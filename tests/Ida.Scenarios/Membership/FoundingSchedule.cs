using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Testing;
using Oracle;

namespace Ida.Scenarios;

/// <summary>
/// Processes that look for each other by names and on the local network: one after another, with a server of names that is slow or silent, datagrams that are lost, and strangers that
/// show themselves. Only one system may come of it. Then a process dies and starts at another address, where its name leads from then on; and at last all die and start again.
/// </summary>
internal sealed class FoundingSchedule : IDisposable
{
    private const string OneName = "one name for all", NameEach = "a name for each", OnLan = "local network", Mixed = "addresses and names", Late = "names known as their processes start",
        Some = "answers with some addresses", Silent = "silent server of names", Vacant = "name of a vacant address", Lost = "datagrams lost", Strangers = "strangers on the local network",
        Moved = "moved to another address", MovedAlone = "the only seed moved", Anew = "all start anew", Cut = "cut while they look";

    /// <summary>Beginning of the messages about more than one system, and about processes that find none.</summary>
    public const string Split = "systems: ", NotFound = "liveness: ";

    private const string Cluster = "c", All = "all.test", VacantName = "vacant.test";
    private readonly ScenarioRun _run;
    private readonly Prng _random;
    private readonly OracleCluster _cluster;
    private readonly SimNames _names;
    private readonly SimLan _lan;
    private readonly string _kind;
    private readonly bool _late;
    private readonly int _first, _seeds;

    // Processes may not have heard each other, or were not told of each other in time.
    private bool _mayDiffer;
    private int _moves;

    public FoundingSchedule(ScenarioRun run)
    {
        _run = run;
        _random = new(run.Case.Seed);
        var simulation = run.Case.Start();
        (_names, _lan) = (new(_random.Fork()), new(simulation, _random.Fork()));
        _kind = _random.Next(4) switch { 0 => OneName, 1 => NameEach, 2 => Mixed, _ => OnLan };
        Draw(_kind);
        _first = 1 + _random.Next(6);
        _seeds = _random.Chance(0.5) ? 1 : Math.Min(3, _first);
        _late = _kind is OneName or NameEach && _random.Chance(0.5);
        if (_late) Draw(Late);
        _names.Slowest = TimeSpan.FromMilliseconds(1 + _random.Next(300));
        if (_kind != OnLan && _random.Chance(0.4))
        {
            Draw(Silent);
            _names.Fails = 0.5;
        }
        if (_kind == OneName && !_late && _first > 2 && _random.Chance(0.4))
        {
            Draw(Some);
            // Neither of two may have been told of the other.
            (_names.Most, _mayDiffer) = (2, true);
        }
        if (_kind == OnLan && _random.Chance(0.4))
        {
            Draw(Lost);
            (_lan.Loss, _mayDiffer) = (0.2, true);
        }
        _lan.Slowest = TimeSpan.FromMilliseconds(1 + _random.Next(5));
        if (_kind == NameEach && _random.Chance(0.3))
        {
            Draw(Vacant);
            _names.Set(VacantName, new NodeAddress("10.9.9.9:7700"));
        }
        _cluster = new(simulation, _first, without: run.Without, shape: Shape) { HasSystems = true };
        for (int i = 0; i < _first && !_late; i++) Publish(_cluster[i].Node.Address);
    }

    public static IReadOnlyList<string> Names { get; } = [OneName, NameEach, OnLan, Mixed, Late, Some, Silent, Vacant, Lost, Strangers, Moved, MovedAlone, Anew, Cut];

    /// <summary>Runs it; null when all is well, else what was violated.</summary>
    public string? Run()
    {
        bool slowly = _random.Chance(0.5);
        foreach (var process in _cluster.Lives.ToList()) Start(process, TimeSpan.FromMilliseconds(_random.Next(slowly ? 6_000 : 600)));
        if (_kind == OnLan && _random.Chance(0.4) && _run.Case.Happens($"strangers at {_cluster.Simulation.Now}")) Strange();
        if (_first > 1 && _random.Chance(0.2) && _run.Case.Happens($"cut at {_cluster.Simulation.Now}")) CutOff();
        if (Wrong("at the start", 40) is { } wrong) return wrong;
        if (_random.Chance(0.7) && _run.Case.Happens($"move at {_cluster.Simulation.Now}") && Move() is { } lost) return lost;
        return _random.Chance(0.5) && _run.Case.Happens($"all anew at {_cluster.Simulation.Now}") ? StartAnew() : null;
    }

    public void Dispose() => _cluster.Dispose();

    private OracleOptions Shape(SimNode node, OracleOptions plain) => plain with { Cluster = Cluster, Names = _names, LocalNetwork = _lan.Of(node), Seeds = Seeds() };

    private IReadOnlyList<NodeAddress> Seeds() => _kind switch
    {
        OneName => [new($"{All}:7700")],
        OnLan => [new(SeedText.Lan)],
        Mixed => [Simulation.AddressOf(0), .. Enumerable.Range(1, _seeds).Select(static i => new NodeAddress($"n{i}.test:7700"))],
        _ => [.. Enumerable.Range(0, _seeds).Select(static i => new NodeAddress($"n{i}.test:7700")), .. _names.Knows(VacantName) ? [new NodeAddress($"{VacantName}:7700")] : (NodeAddress[])[]],
    };

    private void Start(OracleCluster.Process process, TimeSpan after)
    {
        process.StartAt(after);
        if (_late) _cluster.Simulation.After(after, () => Publish(process.Node.Address));
    }

    private void Publish(NodeAddress address)
    {
        _names.Add(All, address);
        int place = PlaceOf(address);
        if (place < _first) _names.Set($"n{place}.test", address);
    }

    private int PlaceOf(NodeAddress address) => Enumerable.Range(0, _cluster.Simulation.Nodes.Count).First(i => Simulation.AddressOf(i) == address);

    private void Draw(string name) => _run.Ingredients.Draw(name);

    /// <summary>Datagrams that are none, of another cluster, and of processes at addresses where nobody is: they cost a moment, and nobody is shut out.</summary>
    private void Strange()
    {
        Draw(Strangers);
        for (int i = 0; i < 300; i++)
        {
            int number = i;
            byte[] noise = new byte[_random.Next(600)];
            for (int at = 0; at < noise.Length; at++) noise[at] = (byte)_random.Next(256);
            _cluster.Simulation.After(TimeSpan.FromMilliseconds(_random.Next(8_000)), () =>
            {
                _lan.Send(null, noise);
                _lan.Say("other", 7, "10.8.0.1:7700", asks: true);
                _lan.Say(Cluster, (ulong)number + 1, $"10.8.{number / 250}.{1 + (number % 250)}:7700", asks: number % 2 == 0, system: number % 3 == 0 ? new(1, 2) : default);
            });
        }
    }

    /// <summary>Two do not reach each other for a while, so that each may found its own.</summary>
    private void CutOff()
    {
        Draw(Cut);
        _mayDiffer = true;
        _cluster.Simulation.Network.Partition([_cluster[0].Node], [.. _cluster.Lives.Skip(1).Select(static life => life.Node)]);
        _cluster.Simulation.After(TimeSpan.FromMilliseconds(_random.Next(3_000)), _cluster.Simulation.Network.Heal);
    }

    private string? Move()
    {
        // An address among the seeds does not move.
        int place = _kind == Mixed && _first > 1 ? 1 + _random.Next(_first - 1) : _random.Next(_first);
        if (_kind == Mixed && place == 0) return null;
        var moving = _cluster[place];
        bool spares = _first >= 3;
        Draw(Moved);
        if (_seeds == 1 && place == 0 && _kind == NameEach && spares) Draw(MovedAlone);
        // What outlives one process has three voters.
        if (spares && !_cluster.RunUntil(() => _cluster.Leader?.Oracle.Replica?.Log.Entries.Configuration.Voters.Count == 3, 20)) return $"{NotFound}three voters: {_cluster.Describe()}";
        _cluster.Run(1);
        moving.Node.Crash(_random.Chance(0.5));
        _cluster.Run(_random.Next(3) * _random.NextDouble());
        var next = _cluster.AddProcess($"moved{_moves++}");
        _names.Remove(All, moving.Node.Address);
        _names.Add(All, next.Node.Address);
        if (place < _seeds + 1) _names.Set($"n{place}.test", next.Node.Address);
        next.StartAt(TimeSpan.Zero);
        if (!spares || _names.Fails > 0) _mayDiffer = true;
        // With its only voter the system is over, and the others end after a minute.
        return Wrong("after a move", spares ? 40 : 90);
    }

    private string? StartAnew()
    {
        Draw(Anew);
        var last = _cluster.Alive.ToList();
        foreach (var life in last) life.Node.Crash(_random.Chance(0.5));
        _cluster.Run(_random.Next(4));
        foreach (var life in last) _cluster.Restart(life, sameSeeds: true).StartAt(TimeSpan.FromMilliseconds(_random.Next(800)));
        return Wrong("when all have started anew", 40);
    }

    /// <summary>Waits until all that live are in one system.</summary>
    private string? Wrong(string when, double seconds)
    {
        bool found = _cluster.RunUntil(IsOne, seconds);
        if (_cluster.Violations.Count > 0) return string.Join("; ", _cluster.Violations.Take(3));
        bool split = _cluster.Lives.Exists(static life => life.Groups.Events.Exists(static text => text.Contains("SplitFoundation", StringComparison.Ordinal)));
        if (split && !_mayDiffer) return $"{Split}{when}, {_kind}{(_late ? ", late" : "")}, answers of {_names.Most}, fails {_names.Fails}: {_cluster.Describe()}";
        // Two systems that could not know of each other may both have grown: neither is wrong, and users decide.
        return found || (split && _mayDiffer) ? null : $"{NotFound}{when}, {_kind}: {_cluster.Describe()}";
    }

    private bool IsOne()
    {
        foreach (var process in _cluster.Lives.ToList())
        {
            bool latest = _cluster.Lives.Last(life => life.Node.Address == process.Node.Address) == process;
            if (latest && process.Node.Alive && process.Oracle.State == MembershipState.Excluded) _cluster.Restart(process, sameSeeds: true).StartAt(TimeSpan.Zero);
        }
        var alive = _cluster.Alive.ToList();
        return alive.Count > 0 && alive.TrueForAll(process => process.Oracle.State == MembershipState.Active && process.Oracle.System == alive[0].Oracle.System);
    }
}
