namespace Ida;

/// <summary>Options of one put.</summary>
public sealed record PutOptions
{
    /// <summary>
    /// The level; null takes the level of the DHT. An undefined level gets <see cref="ArgumentOutOfRangeException"/>. Calls that tell what only the execution shows (those of one key that
    /// return a value or whether they changed it, and all that expect versions) are <see cref="ConsistencyLevel.Strict"/>, whatever it is.
    /// </summary>
    public ConsistencyLevel? Level { get; init; }

    /// <summary>
    /// How long the call waits: positive, or <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> for ever; anything else gets
    /// <see cref="ArgumentOutOfRangeException"/>; null takes <see cref="DhtMemberOptions.Timeout"/>.
    /// </summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>
    /// Repeats an earlier put whose outcome is not known: it is applied if it was not, and its first outcome is returned if it was. Or names a put by an id of
    /// <see cref="Dht.NewOperation"/>, from its first call on. The
    /// keys, values, merges and expected versions must be those of the earlier put, in any order: another put under its id gets <see cref="OperationIdReusedException"/>
    /// wherever the two have a shard in common, and a put without any pairs an <see cref="ArgumentException"/>, as does an id that was neither given to a put nor taken for one: ids are not for
    /// callers to make up. A retry at another member than the one that issued the put asks that member one more question.
    /// </summary>
    public OperationId? Operation { get; init; }
}
