namespace Ida;

/// <summary>Options of one read.</summary>
public sealed record GetOptions
{
    /// <summary>The level; null takes the level of the DHT. An undefined level gets <see cref="ArgumentOutOfRangeException"/>.</summary>
    public ConsistencyLevel? Level { get; init; }

    /// <summary>
    /// How long the call waits: positive, or <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> for ever; anything else gets
    /// <see cref="ArgumentOutOfRangeException"/>; null takes <see cref="DhtMemberOptions.Timeout"/>.
    /// </summary>
    public TimeSpan? Timeout { get; init; }
}
