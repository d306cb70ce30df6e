using Oracle;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>Simulated processes with membership and scripted groups, and the checks that hold in every run.</summary>
internal sealed class OracleCluster : IDisposable
{
    private readonly string? _without;
    private readonly int _seeds;
    private readonly SortedDictionary<string, DecisionChecker> _systems = new(StringComparer.Ordinal);
    private readonly Func<SimNode, OracleOptions, OracleOptions> _shape;

    public OracleCluster(ulong seed, int processes, int seeds = 1, string? without = null, LinkModel? link = null, OracleOptions? options = null,
        Func<SimNode, OracleOptions, OracleOptions>? shape = null)
        : this(new Simulation(new SimulationOptions { Seed = seed, Link = link ?? new(), ReplayCommand = $"the test's seed {seed}" }), processes, seeds, without, options, shape)
    {
    }

    public OracleCluster(Simulation simulation, int processes, int seeds = 1, string? without = null, OracleOptions? options = null,
        Func<SimNode, OracleOptions, OracleOptions>? shape = null)
    {
        (_without, _seeds, Options, Simulation, _shape) = (without, seeds, options ?? new(), simulation, shape ?? (static (_, plain) => plain));
        for (int i = 0; i < processes; i++) Add(Simulation.AddNode($"p{i}", without));
    }

    public OracleOptions Options { get; }

    public Simulation Simulation { get; }

    public DecisionChecker Checker { get; } = new();

    /// <summary>Whether several systems may be founded, each of which has a log of its own.</summary>
    public bool HasSystems { get; set; }

    /// <summary>The checker of a system.</summary>
    public DecisionChecker CheckerOf(SystemId system)
    {
        if (!HasSystems) return Checker;
        if (!_systems.TryGetValue(system.ToString(), out var checker)) _systems.Add(system.ToString(), checker = new());
        return checker;
    }

    /// <summary>What all checkers object to.</summary>
    public List<string> Violations => [.. Checker.Violations, .. _systems.Values.SelectMany(static one => one.Violations)];

    /// <summary>All lives of all processes.</summary>
    public List<Process> Lives { get; } = [];

    public IEnumerable<Process> Alive => Lives.Where(process => process.Node.Alive && process.Oracle.State != MembershipState.Excluded);

    /// <summary>The process that leads in the highest term.</summary>
    public Process? Leader => Alive.Where(process => process.Oracle.Replica?.Services.Active == true).MaxBy(process => process.Oracle.Replica!.Log.Term);

    public Process this[int index] => Lives.Last(process => process.Node.Address == Simulation.AddressOf(index));

    /// <summary>Called when a process is registered.</summary>
    public Action<Process>? OnActive { get; set; }

    /// <summary>One more process, at an address of its own.</summary>
    public Process AddProcess(string name) => Add(Simulation.AddNode(name, _without));

    /// <summary>A later life; it is given the other addresses as seeds, or with <paramref name="sameSeeds"/> those of the first life.</summary>
    public Process Restart(Process process, bool sameSeeds = false) => Add(process.Node.Restart(), sameSeeds);

    public void StartAll(TimeSpan within)
    {
        foreach (var process in Lives) process.StartAt(within == TimeSpan.Zero ? within : TimeSpan.FromMilliseconds(Simulation.Random.Next(0, (long)within.TotalMilliseconds)));
    }

    public bool RunUntil(Func<bool> condition, double seconds) => Simulation.RunUntil(condition, TimeSpan.FromSeconds(seconds));

    public void Run(double seconds) => Simulation.Run(TimeSpan.FromSeconds(seconds));

    /// <summary>Whether every process that lives is in the group, all in one view of exactly them, none wedged.</summary>
    public bool Settled(string group)
    {
        var alive = Alive.ToList();
        if (alive.Count == 0 || alive.Any(process => process.Oracle.State != MembershipState.Active || process.Groups.IsWedged)) return false;
        var first = alive[0].Groups.ViewOf(group);
        return first is not null && first.Members.Count == alive.Count
            && alive.All(process => process.Groups.ViewOf(group) is { } view && view.Id == first.Id && view.Group == first.Group && view.RankOf(process.Oracle.Self) >= 0);
    }

    public void AssertNoViolations() => Assert.True(Checker.Violations.Count == 0, $"seed {Simulation.Seed}: {string.Join("; ", Checker.Violations.Take(3))}");

    public void Dispose() => Simulation.Dispose();

    /// <summary>Why the run does not settle, for the failing test's message.</summary>
    public string Describe() => $"seed {Simulation.Seed} at {Simulation.Now}: " + string.Join(" | ", Lives.Where(p => p.Node.Alive).Select(p =>
        $"{p.Node.Name} {p.Oracle.State} {p.Oracle.Self} {p.Oracle.Replica?.Log.Role.GetType().Name} t{p.Oracle.Replica?.Log.Term} c{p.Oracle.Replica?.Log.Commit} {p.Oracle.Replica?.Log.Entries.Configuration} "
        + string.Join(",", p.Oracle.Replica is { Services.Active: true } r ? r.State.Groups.Select(g => $"[{g.Id} v{g.View.Id} {string.Join(' ', g.View.Members.Select(m => $"{m.Id}{(r.State.IsAlive(m.Id) ? "" : "-")}"))} pending {g.Pending?.Number} s{g.Pending?.Proposal.Survivors.Count} l{g.Pending?.Proposal.Leavers.Count} q{string.Join(' ', g.Queue.Select(q => q.Process))} L{string.Join(' ', g.Leavers)}]") : [])
        + string.Join(",", p.Groups.Groups.Select(g => $"v{g.View?.Id}({g.View?.Members.Count}) w{g.Wedge?.Number}")) + " " + p.Groups.Events.LastOrDefault()));

    private Process Add(SimNode node, bool sameSeeds = true)
    {
        var seeds = Enumerable.Range(0, _seeds).Select(Simulation.AddressOf).ToList();
        // A later life must find the system, however it is cut off: it is given the other addresses, so it may not found.
        if (!sameSeeds) seeds = Lives.Select(life => life.Node.Address).Distinct().Where(address => address != node.Address).ToList();
        var oracle = new OracleMember(node.Node, _shape(node, Options with { Seeds = seeds }));
        var groups = new ScriptedGroups(node.Name, node.Node, oracle, Checker, () => Simulation.Now.Ticks);
        oracle.Attach(groups);
        oracle.OnReplica = replica => replica.Log.OnApplied = (index, entry) => CheckerOf(oracle.System).Applied(node.Name, index, entry);
        var process = new Process(this, node, oracle, groups);
        Lives.Add(process);
        return process;
    }

    /// <summary>One life of one process.</summary>
    internal sealed class Process(OracleCluster cluster, SimNode node, OracleMember oracle, ScriptedGroups groups)
    {
        private MembershipState _seen;

        public SimNode Node { get; } = node;

        public OracleMember Oracle { get; } = oracle;

        public ScriptedGroups Groups { get; } = groups;

        public void StartAt(TimeSpan when) => cluster.Simulation.After(when, () => Node.Post(() =>
        {
            Oracle.Start();
            Observe(Durations.Millisecond * 5);
        }));

        /// <summary>Looks at this process every few milliseconds, in its own turns.</summary>
        private void Observe(long every) => Node.Node.SetTimer(Node.Node.Now + every, new Look(this, every), 0);

        private void Sample()
        {
            if (Oracle.Replica?.Log is { Leading: not null } log) cluster.CheckerOf(Oracle.System).Leads(Node.Name, log.Term, Node.Id);
            Groups.Sample();
            if (Oracle.State == MembershipState.Active && _seen == MembershipState.Starting) cluster.OnActive?.Invoke(this);
            _seen = Oracle.State;
        }

        private sealed class Look(Process process, long every) : ITimerTarget
        {
            public void OnTimer(long token)
            {
                process.Sample();
                process.Observe(every);
            }
        }
    }
}
