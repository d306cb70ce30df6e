using System.Globalization;

namespace Ida.Testing;

/// <summary>One fault: what, when, to whom, and for how long. It undoes itself, so that leaving one out leaves nothing half done.</summary>
/// <param name="At">When it begins, virtual time since the schedule was injected.</param>
/// <param name="Kind">What goes wrong.</param>
/// <param name="Node">Number of the node (the order of <see cref="Simulation.AddNode(string?)"/>), or where a way begins; unused by <see cref="FaultKind.Partition"/>.</param>
/// <param name="For">How long it lasts. A node stays down for good with <see cref="Timeout.InfiniteTimeSpan"/>; everything else ends with the schedule.</param>
public sealed record Fault(TimeSpan At, FaultKind Kind, int Node, TimeSpan For)
{
    /// <summary>Where a way ends, for faults of ways.</summary>
    public int Other { get; init; } = -1;

    /// <summary>How many times slower, or faster for a clock.</summary>
    public double Factor { get; init; } = 1;

    /// <summary>Numbers of the nodes on one side of a partition.</summary>
    public IReadOnlyList<int> Side { get; init; } = [];

    /// <summary>The form that <see cref="FaultSchedule.Parse"/> reads, such as "120ms cut 0>1 for 50ms".</summary>
    public override string ToString()
    {
        string whom = Kind switch
        {
            FaultKind.Partition => string.Join(',', Side),
            FaultKind.Cut or FaultKind.Drop or FaultKind.Slow or FaultKind.Break => $"{Node}>{Other}",
            _ => Node.ToString(CultureInfo.InvariantCulture),
        };
        string factor = Kind is FaultKind.Slow or FaultKind.Busy or FaultKind.Drift ? $" x{Factor.ToString("R", CultureInfo.InvariantCulture)}" : "";
        string time = Kind == FaultKind.Break ? "" : For == Timeout.InfiniteTimeSpan ? " for good" : $" for {Milliseconds(For)}";
        return $"{Milliseconds(At)} {Kind.ToString().ToLowerInvariant()} {whom}{factor}{time}";
    }

    private static string Milliseconds(TimeSpan time) => time.TotalMilliseconds.ToString("0.####", CultureInfo.InvariantCulture) + "ms";
}
