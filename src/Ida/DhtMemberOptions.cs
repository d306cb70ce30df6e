using GroupCore.Runtime;

namespace Ida;

/// <summary>Options of a DHT that each member chooses itself (<see cref="DhtOptions.Member"/>): how long its calls wait, and how much it holds.</summary>
public sealed record DhtMemberOptions
{
    /// <summary>Level of operations that name no level.</summary>
    public ConsistencyLevel Level { get; init; } = ConsistencyLevel.Strict;

    /// <summary>How long an operation that names no timeout waits; <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> waits for ever.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// How long enabling waits until the DHT can begin, with one member for each shard, and this member has its place in it;
    /// <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> waits for ever. It matters only at the member that enables.
    /// </summary>
    public TimeSpan EnableTimeout { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>
    /// How long a leaving member waits until another member has the state that only the leaver holds; zero leaves at once. It matters only at
    /// the leaving member.
    /// </summary>
    public TimeSpan HandoverTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Operations that one member has on the way at once; later calls wait.</summary>
    public int MaxInFlight { get; init; } = 1024;

    /// <summary>
    /// Bytes of keys, values and answers that one member's operations on the way may hold; the same bound holds for the keys and values of its waiting
    /// operations. At least 1 MiB. One operation is always let through, and one may always wait.
    /// </summary>
    public long MaxInFlightBytes { get; init; } = 64L << 20;

    /// <summary>Most unfinished operations on one key at one member; more are refused.</summary>
    public int MaxQueuePerKey { get; init; } = 4096;

    /// <summary>Most operations that one member holds as a participant; the same bound holds for the one-key reads that wait there. More are refused.</summary>
    public int MaxOperations { get; init; } = 16_384;

    /// <summary>
    /// Bytes of outcomes that a member remembers of another member's puts while an earlier put of that member has not ended, or an id that it gave is kept
    /// (<see cref="Dht.NewOperation"/>); at least 4 KiB. Above this bound, first that member's ids are forgotten; then its puts get <see cref="OverloadedException"/> until the earlier put ends.
    /// </summary>
    public long MaxOutcomeBytes { get; init; } = 64L << 20;

    /// <summary>How long a participant waits for a coordinator before it takes over; at most one day.</summary>
    public TimeSpan TakeoverAfter { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Universal time for the hybrid clock, asked once, by the call that enables the DHT; null takes each node's clock, which members align
    /// at every view.
    /// </summary>
    public TimeProvider? Time { get; init; }

    /// <summary>Throws <see cref="DhtConfigurationException"/> when an option is impossible.</summary>
    internal void Validate()
    {
        if (!Enum.IsDefined(Level)) throw new DhtConfigurationException($"Level is {Level}, which is no defined level; allowed are {ConsistencyLevel.Strict} and {ConsistencyLevel.Ordered}.");
        if (Timeout <= TimeSpan.Zero && Timeout != System.Threading.Timeout.InfiniteTimeSpan)
            throw new DhtConfigurationException($"Timeout is {Timeout}; it must be positive, or Timeout.InfiniteTimeSpan for none.");
        if (EnableTimeout != System.Threading.Timeout.InfiniteTimeSpan && (EnableTimeout <= TimeSpan.Zero || EnableTimeout > TimeSpan.FromDays(1)))
            throw new DhtConfigurationException($"EnableTimeout is {EnableTimeout}; it must be positive and at most one day, or infinite.");
        if (HandoverTimeout < TimeSpan.Zero || HandoverTimeout > TimeSpan.FromDays(1)) throw new DhtConfigurationException($"HandoverTimeout is {HandoverTimeout}; it must be between zero and one day.");
        if (TakeoverAfter <= TimeSpan.Zero || TakeoverAfter > TimeSpan.FromDays(1)) throw new DhtConfigurationException($"TakeoverAfter is {TakeoverAfter}; it must be positive and at most one day.");
        Positive(MaxInFlight, nameof(MaxInFlight));
        if (MaxInFlightBytes is < 1 << 20 or > 1L << 40) throw new DhtConfigurationException($"MaxInFlightBytes is {MaxInFlightBytes}; it must be between {1 << 20} and {1L << 40}.");
        if (MaxOutcomeBytes is < 1 << 12 or > 1L << 40) throw new DhtConfigurationException($"MaxOutcomeBytes is {MaxOutcomeBytes}; it must be between {1 << 12} and {1L << 40}.");
        Positive(MaxQueuePerKey, nameof(MaxQueuePerKey));
        Positive(MaxOperations, nameof(MaxOperations));
    }

    /// <summary>How far the hybrid clock is ahead of the node's clock. It asks the user's clock, so it belongs on a caller's thread, never in a turn.</summary>
    internal long ClockOffset(INode node) =>
        // The cast saturates what a long does not hold, and the clock cuts the rest to its range. A time before 2020 counts as 2020: the cast turns a very
        // early time into the smallest long, and a subtraction from that would wrap around.
        Time is { } time ? Math.Max(0, (long)(time.GetUtcNow() - new DateTimeOffset(2020, 1, 1, 0, 0, 0, TimeSpan.Zero)).TotalNanoseconds) - node.Clock() : 0;

    private static void Positive(int value, string name)
    {
        if (value is < 1 or > 1 << 20) throw new DhtConfigurationException($"{name} is {value}; it must be between 1 and {1 << 20}.");
    }
}
