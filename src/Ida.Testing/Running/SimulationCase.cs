using System.Globalization;
using System.Runtime.ExceptionServices;

namespace Ida.Testing;

/// <summary>One run of a seed: makes the simulations and the faults of a test, so that the runner can repeat and shrink it.</summary>
/// <remarks>
/// A test has its faults either as a schedule drawn before the run (<see cref="Faults"/>), or chooses them as it goes and asks
/// <see cref="Happens"/> before each; both are shrunk when the seed fails.
/// </remarks>
public sealed class SimulationCase
{
    private readonly string _replay;
    private readonly Reduction _reduction;
    private readonly List<Simulation> _simulations = [];
    private readonly List<(long Steps, ulong Hash)> _traces = [];
    private readonly List<Disturbance> _happened = [];
    private int _asked;

    internal SimulationCase(ulong seed, string replay = "", Reduction? reduction = null) => (Seed, _replay, _reduction) = (seed, replay, reduction ?? Reduction.None);

    /// <summary>The seed of this run.</summary>
    public ulong Seed { get; }

    internal FaultSchedule? Drawn { get; private set; }

    internal IReadOnlyList<Disturbance> Happened => _happened;

    /// <summary>Steps and trace hash of every simulation so far, and what the test added.</summary>
    internal IEnumerable<(long Steps, ulong Hash)> Traces => _simulations.Select(static simulation => (simulation.Steps, simulation.TraceHash)).Concat(_traces);

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
        return Drawn = _reduction.Faults ?? FaultSchedule.Random(Seed, plan);
    }

    /// <summary>
    /// Whether a disturbance that the test has chosen while it runs is to happen now: yes, unless shrinking or a replay leaves it out.
    /// <paramref name="what"/> names it in the report.
    /// </summary>
    public bool Happens(FormattableString what)
    {
        ArgumentNullException.ThrowIfNull(what);
        int number = ++_asked;
        if (_reduction.Kept?.Contains(number) == false) return false;
        _happened.Add(new(number, what.ToString(CultureInfo.InvariantCulture)));
        return true;
    }

    /// <summary>Adds the trace of a model without a <see cref="Simulation"/>: equal seeds must give equal traces.</summary>
    public void Trace(long steps, ulong hash) => _traces.Add((steps, hash));

    /// <summary>Ends all simulations, even if some throw, and throws what was wrong with any.</summary>
    internal void End()
    {
        var broken = new List<Exception>();
        long later = 0;
        // The last one first: each counts from what the simulations before it held when it began, and includes what those after it have leaked.
        for (int i = _simulations.Count - 1; i >= 0; i--)
        {
            try
            {
                _simulations[i].Dispose();
            }
            catch (Exception error)
            {
                broken.Add(error);
            }
            long leaked = _simulations[i].Leaked - later;
            later += leaked;
            if (leaked != 0) broken.Add(new InvalidOperationException($"Nodes have ended and hold {leaked} bytes of slabs."));
        }
        if (broken.Count == 1) ExceptionDispatchInfo.Throw(broken[0]);
        if (broken.Count > 1) throw new AggregateException(broken);
    }
}
