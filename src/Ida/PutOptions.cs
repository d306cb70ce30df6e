namespace Ida;

/// <summary>Options of one put.</summary>
public sealed record PutOptions
{
    /// <summary>
    /// The level; null takes the level of the DHT. An undefined level gets <see cref="ArgumentOutOfRangeException"/>. Calls whose result only the execution shows (those of one key that
    /// return a value or whether they changed it, and all that expect versions) are <see cref="ConsistencyLevel.Strict"/>, whatever the level.
    /// </summary>
    public ConsistencyLevel? Level { get; init; }

    /// <summary>
    /// How long the call waits: positive, or <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> for ever; anything else gets
    /// <see cref="ArgumentOutOfRangeException"/>; null takes <see cref="DhtMemberOptions.Timeout"/>.
    /// </summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>
    /// Repeats an earlier put whose outcome is not known: if that put was not applied, it is applied now; if it was, its first outcome is returned. Or names a put, from its first call on, by an id
    /// from <see cref="Dht.NewOperation"/>. The keys, values, merges and expected versions must be those of the earlier put, in any order: another put under its id gets
    /// <see cref="OperationIdReusedException"/> if the two have a shard in common. A put without any pairs gets an <see cref="ArgumentException"/>, and so does an id that was neither given to a put
    /// nor taken for one: callers do not make up ids. A retry at a member other than the one that issued the put asks that member one more question.
    /// </summary>
    public OperationId? Operation { get; init; }
}
