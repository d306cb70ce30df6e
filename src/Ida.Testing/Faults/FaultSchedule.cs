using GroupCore.Runtime;

namespace Ida.Testing;

/// <summary>
/// An explicit list of timed faults: drawn from a seed, printed, read back, shrunk. The schedule is data apart from the run's other
/// choices, so a run without one of its faults keeps the rest.
/// </summary>
public sealed class FaultSchedule
{
    private const string None = "none";

    /// <summary>A schedule of these faults, in the order of their times.</summary>
    public FaultSchedule(IEnumerable<Fault> faults) => Faults = [.. faults.OrderBy(static fault => fault.At)];

    /// <summary>The faults by time.</summary>
    public IReadOnlyList<Fault> Faults { get; }

    /// <summary>When the last fault is over.</summary>
    public TimeSpan End => Faults.Select(static fault => fault.At + (fault.For > TimeSpan.Zero ? fault.For : TimeSpan.Zero)).DefaultIfEmpty().Max();

    /// <summary>The same schedule for the same seed and plan.</summary>
    public static FaultSchedule Random(ulong seed, FaultPlan plan)
    {
        ArgumentNullException.ThrowIfNull(plan);
        if (plan.BrokenRule is { } rule) throw new ArgumentException($"A fault plan needs {rule}.", nameof(plan));
        return new FaultDrawing(new Prng(Choices.Seed(seed, ulong.MaxValue, 1)), plan).Draw();
    }

    /// <summary>Reads the text of <see cref="ToString"/>: faults separated by semicolons or lines, or "none".</summary>
    public static FaultSchedule Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        if (text.Trim() == None) return new([]);
        var parts = text.Split([';', '\n'], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return new(parts.Select(FaultText.Parse));
    }

    /// <summary>
    /// Makes the faults happen from now on. <paramref name="restarted"/> attaches the protocols of a node that comes back with a new life;
    /// without it nodes that crash stay down.
    /// </summary>
    public void Inject(Simulation simulation, Action<SimNode>? restarted = null) => Inject(simulation, restarted, null);

    /// <summary>The same; <paramref name="happens"/> is told of each just before it happens, and not of one whose node is dead.</summary>
    internal void Inject(Simulation simulation, Action<SimNode>? restarted, Action<Fault>? happens)
    {
        ArgumentNullException.ThrowIfNull(simulation);
        var injection = new FaultInjection(simulation, restarted, happens);
        foreach (var fault in Faults) simulation.After(fault.At, () => injection.Begin(fault));
    }

    /// <summary>The faults, separated by semicolons.</summary>
    public override string ToString() => Faults.Count == 0 ? None : string.Join("; ", Faults);
}
