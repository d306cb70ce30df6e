namespace Ida.Testing;

/// <summary>One run of a seed: makes the simulations and the faults of a test, so that the runner can repeat and shrink it.</summary>
public sealed class SimulationCase
{
    private readonly string _replay;
    private readonly FaultSchedule? _given;
    private readonly List<Simulation> _simulations = [];

    internal SimulationCase(ulong seed, string replay, FaultSchedule? given) => (Seed, _replay, _given) = (seed, replay, given);

    /// <summary>The seed of this run.</summary>
    public ulong Seed { get; }

    internal FaultSchedule? Drawn { get; private set; }

    /// <summary>Steps and trace hash of every simulation so far.</summary>
    internal IEnumerable<(long Steps, ulong Hash)> Traces => _simulations.Select(static simulation => (simulation.Steps, simulation.TraceHash));

    /// <summary>A simulation with this run's seed and replay command; the runner disposes it.</summary>
    public Simulation Start(SimulationOptions? options = null)
    {
        var simulation = new Simulation((options ?? new()) with { Seed = Seed, ReplayCommand = _replay });
        _simulations.Add(simulation);
        return simulation;
    }

    /// <summary>The fault schedule of this run, once per run: drawn from the seed, or the one being tried while shrinking or replaying.</summary>
    public FaultSchedule Faults(FaultPlan plan)
    {
        if (Drawn is not null) throw new InvalidOperationException("A run has one fault schedule.");
        return Drawn = _given ?? FaultSchedule.Random(Seed, plan);
    }

    internal void End()
    {
        foreach (var simulation in _simulations) simulation.Dispose();
    }
}
