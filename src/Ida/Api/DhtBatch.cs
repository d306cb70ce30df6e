namespace Ida;

/// <summary>
/// One atomic put over several maps: <c>await dht.NewBatch().Put(rows, key, row).Merge(counts, country, 1L).CommitAsync()</c>.
/// For one thread; committed once. Any use after that throws <see cref="InvalidOperationException"/>.
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
    public DhtBatch Put<TKey, TValue>(IDhtMap<TKey, TValue> map, TKey key, TValue? value) where TKey : notnull
    {
        _dht.Own(map).AddPut(Open, key, value);
        return this;
    }

    /// <summary>Adds a removal.</summary>
    public DhtBatch Remove<TKey, TValue>(IDhtMap<TKey, TValue> map, TKey key) where TKey : notnull
    {
        _dht.Own(map).AddRemove(Open, key);
        return this;
    }

    /// <summary>Adds a merge by the resolver for the three types; throws <see cref="NoCollisionResolverException"/> when there is none.</summary>
    public DhtBatch Merge<TKey, TValue, TIncoming>(IDhtMap<TKey, TValue> map, TKey key, TIncoming value) where TKey : notnull
    {
        _dht.Own(map).AddMerge(Open, key, value);
        return this;
    }

    /// <summary>Executes all of it atomically. Results are in the order of the calls. Throws what a put of <see cref="IDhtMap{TKey, TValue}"/> throws.</summary>
    public ValueTask<PutResult> CommitAsync(CancellationToken cancellationToken = default)
    {
        var op = Open;
        _op = null;
        return Dht.Submit(op, _options, cancellationToken);
    }
}
