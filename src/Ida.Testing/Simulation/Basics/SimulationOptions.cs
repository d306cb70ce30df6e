namespace Ida.Testing;

/// <summary>What a simulation is made of. Two simulations with equal options that are used alike take the same steps.</summary>
public sealed record SimulationOptions
{
    /// <summary>The seed of every choice; default 1.</summary>
    public ulong Seed { get; init; } = 1;

    /// <summary>The network between all nodes.</summary>
    public LinkModel Link { get; init; } = new();

    /// <summary>What carries frames between the nodes; default <see cref="SimCarrier.Memory"/>.</summary>
    public SimCarrier Carrier { get; init; }

    /// <summary>What sockets do; for <see cref="SimCarrier.Mesh"/> only.</summary>
    internal SocketModel Sockets { get; init; } = new();

    /// <summary>Whether connections are TLS, as of nodes with credentials; for <see cref="SimCarrier.Mesh"/> only.</summary>
    internal bool IsSecure { get; init; }

    /// <summary>Most frames, and most callers' commands, of one turn: each turn draws 1 … this many; default 16.</summary>
    public int MaxBatch { get; init; } = 16;

    /// <summary>Longest time between an event for an idle node and its turn, so that events gather; default 20 µs.</summary>
    public TimeSpan MaxWakeDelay { get; init; } = TimeSpan.FromMicroseconds(20);

    /// <summary>What a turn takes on a node of ordinary speed; default 2 µs.</summary>
    public TimeSpan TurnTime { get; init; } = TimeSpan.FromMicroseconds(2);

    /// <summary>What each frame adds to a turn; default 200 ns.</summary>
    public TimeSpan FrameTime { get; init; } = TimeSpan.FromTicks(2);

    /// <summary>Clocks of nodes run faster or slower than virtual time by at most this share; default 1 %
    /// (node-and-turn.md#clocks-count-the-time-asleep-and-drift-by-one-percent-at-most).</summary>
    public double MaxClockDrift { get; init; } = 0.01;

    /// <summary>Clocks of nodes start at 0 … this; default one hour.</summary>
    public TimeSpan MaxClockOffset { get; init; } = TimeSpan.FromHours(1);

    /// <summary>Whether the completions of a turn run in a drawn order, as they may on the threads of production; default false: in the order in which they were made.</summary>
    public bool ShuffleCompletions { get; init; }

    /// <summary>The completions of a turn begin, in their order, up to this much later than the turn, as when threads of the pool are busy; default 0.</summary>
    public TimeSpan MaxCompletionDelay { get; init; }

    /// <summary>The share of calls that are made to a node at rest, from outside a turn, and run before they return, as on callers' threads; default 0.</summary>
    public double BorrowedTurns { get; init; }

    /// <summary>The command that repeats this run, shown when it fails; null shows the seed alone.</summary>
    public string? ReplayCommand { get; init; }

    /// <summary>Unacknowledged bytes of all links of a node at which producers of bulk wait.</summary>
    internal long MostQueuedBytes { get; init; } = GroupCore.Transport.LinkLimits.NodeBytes;

    /// <summary>The first rule these values break, null for none.</summary>
    internal string? BrokenRule =>
        Link is null ? "a link model"
        : Carrier is not (SimCarrier.Memory or SimCarrier.Mesh) ? "a carrier that there is"
        : Carrier == SimCarrier.Mesh && Link.UsesDatagrams ? "Link.Loss, Link.Duplication and Link.Reordering of 0 over the mesh"
        : IsSecure && Carrier != SimCarrier.Mesh ? "IsSecure over the mesh only"
        : Sockets.BrokenRule is { } rule ? rule
        : MaxBatch < 1 ? "MaxBatch >= 1"
        : MaxWakeDelay < TimeSpan.Zero || TurnTime < TimeSpan.Zero || FrameTime < TimeSpan.Zero ? "times that are not negative"
        : MaxCompletionDelay < TimeSpan.Zero ? "MaxCompletionDelay >= 0"
        : BorrowedTurns is not (>= 0 and <= 1) ? "BorrowedTurns in 0..1"
        : MaxClockOffset < TimeSpan.Zero ? "MaxClockOffset >= 0"
        : MaxClockDrift is not (>= 0 and <= 0.5) ? "MaxClockDrift in 0..0.5"
        : Link.BrokenRule;
}
