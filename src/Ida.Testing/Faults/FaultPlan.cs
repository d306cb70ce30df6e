namespace Ida.Testing;

/// <summary>What a random <see cref="FaultSchedule"/> is drawn from.</summary>
public sealed record FaultPlan
{
    /// <summary>Faults begin within this time; default 5 s.</summary>
    public TimeSpan Within { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Most faults; at least one is drawn; default 10.</summary>
    public int MaxFaults { get; init; } = 10;

    /// <summary>How many nodes there are.</summary>
    public required int Nodes { get; init; }

    /// <summary>Most nodes that are down at a time; default 1.</summary>
    public int MaxDown { get; init; } = 1;

    /// <summary>Shortest time a fault lasts; default 1 ms.</summary>
    public TimeSpan MinDuration { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Longest time a fault lasts; durations are drawn evenly over orders of magnitude; default 3 s.</summary>
    public TimeSpan MaxDuration { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>Probability that a crashed node stays down; it counts as down for the rest of the schedule; default 0.</summary>
    public double StaysDown { get; init; }

    /// <summary>Which faults; default all. A kind that is named twice is drawn twice as often.</summary>
    public IReadOnlyList<FaultKind> Kinds { get; init; } = Enum.GetValues<FaultKind>();

    /// <summary>Times around which half of the durations are drawn, up to a third shorter or longer, since something in the system takes that long; default none.</summary>
    internal IReadOnlyList<TimeSpan> Around { get; init; } = [];

    /// <summary>Whether each schedule first draws which of the kinds it uses.</summary>
    internal bool Swarms { get; init; }

    /// <summary>Whether all faults of a schedule are those of one node and its ways.</summary>
    internal bool OneNode { get; init; }

    internal string? BrokenRule =>
        Nodes < 1 ? "Nodes >= 1"
        : Within <= TimeSpan.Zero ? "Within > 0"
        : MaxFaults < 1 ? "MaxFaults >= 1"
        : MaxDown < 0 ? "MaxDown >= 0"
        : MinDuration <= TimeSpan.Zero || MaxDuration < MinDuration ? "0 < MinDuration <= MaxDuration"
        : StaysDown is not (>= 0 and <= 1) ? "StaysDown in 0..1"
        : Kinds is null or { Count: 0 } ? "at least one kind"
        : null;
}
