namespace Ida;

/// <summary>Options of one put.</summary>
public sealed record PutOptions
{
    /// <summary>The level; null takes that of the DHT.</summary>
    public ConsistencyLevel? Level { get; init; }

    /// <summary>How long the call waits; null takes <see cref="DhtOptions.Timeout"/>.</summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>Repeats an earlier put whose outcome is not known: it is applied if it was not, and its first outcome is returned if it was.</summary>
    public OpId? Operation { get; init; }
}
