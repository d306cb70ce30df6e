namespace Ida;

/// <summary>
/// One atomic put over several maps: <c>await dht.NewBatch().Put(rows, key, row).Merge(counts, country, 1L).CommitAsync()</c>.
/// With <see cref="Expect"/> it is applied only if keys have the expected versions; then all its keys must lie in one shard. Use it from one thread and commit it once; any later use throws
/// <see cref="InvalidOperationException"/>.
/// </summary>
public sealed class DhtBatch
{
    private readonly Dht _dht;
    private readonly PutOptions? _options;
    private PutOperation? _op;

    internal DhtBatch(Dht dht, PutOptions? options)
    {
        (_dht, _options) = (dht, options);
        _op = dht.NewPut(options);
    }

    // After the commit the operation belongs to the protocol, and then to another call.
    private PutOperation Open => _op ?? throw new InvalidOperationException("The batch was committed: begin another one.");

    /// <summary>Adds a put; a null value removes the entry.</summary>
    public DhtBatch Put<TKey, TValue>(DhtMap<TKey, TValue> map, TKey key, TValue? value) where TKey : notnull
    {
        _dht.Own(map).AddPut(Open, key, value, null);
        return this;
    }

    /// <summary>Adds a removal.</summary>
    public DhtBatch Remove<TKey, TValue>(DhtMap<TKey, TValue> map, TKey key) where TKey : notnull
    {
        _dht.Own(map).AddRemove(Open, key, null);
        return this;
    }

    /// <summary>Adds a merge by the map's resolver for the type of the value; throws <see cref="NoResolverException"/> when there is none.</summary>
    public DhtBatch Merge<TKey, TValue, TIncoming>(DhtMap<TKey, TValue> map, TKey key, TIncoming value) where TKey : notnull
    {
        _dht.Own(map).AddMerge(Open, key, value);
        return this;
    }

    /// <summary>
    /// Applies the batch only if the key has the version <paramref name="expected"/>; an absent key has version 0. The batch may also change the key, or only check it.
    /// </summary>
    public DhtBatch Expect<TKey, TValue>(DhtMap<TKey, TValue> map, TKey key, ulong expected) where TKey : notnull
    {
        _dht.Own(map).AddCheck(Open, key, expected);
        return this;
    }

    /// <summary>
    /// Executes the whole batch atomically. The result has a version for each key, in the order in which the keys were first named; <see cref="PutResult.IsApplied"/> tells whether the
    /// expectations were met: if not, the batch is not applied, and nothing is thrown for that. Throws what a put of <see cref="DhtMap{TKey, TValue}"/> throws,
    /// <see cref="ResolverException"/>, <see cref="PartlyAppliedException"/>, and <see cref="ArgumentException"/> if versions are expected and the keys lie in several shards.
    /// </summary>
    public ValueTask<PutResult> CommitAsync(CancellationToken cancellationToken = default)
    {
        var op = Open;
        _op = null;
        return Dht.Submit(op, _options, "batch", null, cancellationToken);
    }
}
