namespace Ida;

/// <summary>Options of one read.</summary>
public sealed record GetOptions
{
    /// <summary>The level; null takes that of the DHT.</summary>
    public ConsistencyLevel? Level { get; init; }

    /// <summary>How long the call waits; null takes <see cref="DhtOptions.Timeout"/>.</summary>
    public TimeSpan? Timeout { get; init; }
}
