using GroupCore.Wire;
using Ida.Coordination;

namespace Ida;

/// <summary>A typed view of one member's DHT. Callers' threads serialize and check; everything else happens on the loop.</summary>
internal sealed class DhtMap<TKey, TValue> : IDhtMap<TKey, TValue> where TKey : notnull
{
    private readonly Dht _dht;
    private readonly OpPool<GetOneOp<TKey, TValue>> _ones;
    private readonly ulong _resolver;

    public DhtMap(Dht dht, string name)
    {
        (_dht, Name) = (dht, name);
        Identity = KeyIdentity.OfMap(name, typeof(TKey), typeof(TValue));
        _resolver = dht.Registry.Find<TKey, TValue, TValue>();
        _ones = new(pool => new(dht.Layer, this, pool));
    }

    public string Name { get; }

    public byte[] Identity { get; }

    public IPayloadSerializer Serializer => _dht.Serializer;

    public ValueTask<PutResult> OrderedPutAsync(IEnumerable<KeyValuePair<TKey, TValue?>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pairs);
        var op = _dht.NewPut(options);
        foreach (var (key, value) in pairs) AddPut(op, key, value);
        return Dht.Submit(op, options, cancellationToken);
    }

    public ValueTask<PutResult> OrderedPutAsync(TKey key, TValue? value, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _dht.NewPut(options);
        AddPut(op, key, value);
        return Dht.Submit(op, options, cancellationToken);
    }

    public ValueTask<PutResult> OrderedRemoveAsync(IEnumerable<TKey> keys, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        var op = _dht.NewPut(options);
        foreach (var key in keys) AddRemove(op, key);
        return Dht.Submit(op, options, cancellationToken);
    }

    public ValueTask<PutResult> OrderedMergeAsync<TIncoming>(IEnumerable<KeyValuePair<TKey, TIncoming>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pairs);
        var op = _dht.NewPut(options);
        foreach (var (key, value) in pairs) AddMerge(op, key, value);
        return Dht.Submit(op, options, cancellationToken);
    }

    public ValueTask<PutResult> OrderedMergeAsync<TIncoming>(TKey key, TIncoming value, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _dht.NewPut(options);
        AddMerge(op, key, value);
        return Dht.Submit(op, options, cancellationToken);
    }

    public ValueTask<IReadOnlyDictionary<TKey, Versioned<TValue>>> OrderedGetAsync(IEnumerable<TKey> keys, GetOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        TKey[] asked = [.. keys];
        if (asked.Length == 0) return new(new Dictionary<TKey, Versioned<TValue>>());
        var op = new GetManyOp<TKey, TValue>(_dht.Layer, this, asked);
        op.Begin(false, options?.Level ?? _dht.Options.Level, options?.Timeout ?? _dht.Options.Timeout);
        foreach (var key in asked) AddKey(op, key, null, 0);
        op.Seal(nameof(keys));
        return op.Submit(cancellationToken);
    }

    public ValueTask<Versioned<TValue>?> OrderedGetAsync(TKey key, GetOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _ones.Rent();
        op.Begin(false, options?.Level ?? _dht.Options.Level, options?.Timeout ?? _dht.Options.Timeout);
        AddKey(op, key, null, 0);
        return op.Submit(cancellationToken);
    }

    public void AddPut(ClientOp op, TKey key, TValue? value)
    {
        if (value is null) AddRemove(op, key);
        else AddKey(op, key, ToBytes(value), _resolver);
    }

    public void AddRemove(ClientOp op, TKey key) => AddKey(op, key, null, 0);

    public void AddMerge<TIncoming>(ClientOp op, TKey key, TIncoming value)
    {
        ulong resolver = _dht.Registry.Find<TKey, TValue, TIncoming>();
        if (resolver == 0) throw new NoCollisionResolverException(typeof(TKey), typeof(TValue), typeof(TIncoming));
        AddKey(op, key, ToBytes(value), resolver);
    }

    public void AddGet(ClientOp op, TKey key) => AddKey(op, key, null, 0);

    public TValue ToValue(byte[] bytes)
    {
        try
        {
            return Serializer.Deserialize<TValue>(bytes);
        }
        catch (InvalidDataException error)
        {
            throw new UnsupportedTypeException(typeof(TValue), "the stored bytes are not such a value.", error);
        }
    }

    private byte[] ToBytes<T>(T value)
    {
        ArgumentNullException.ThrowIfNull(value);
        try
        {
            return KeyIdentity.ToBytes(Serializer, value);
        }
        catch (ContractException error)
        {
            throw new UnsupportedTypeException(typeof(T), "values of this type cannot be stored: " + error.Message, error);
        }
    }

    private void AddKey(ClientOp op, TKey key, byte[]? incoming, ulong resolver)
    {
        ArgumentNullException.ThrowIfNull(key);
        try
        {
            op.AddKey(Identity, KeyIdentity.WriteKey(key), incoming, resolver);
        }
        catch (ContractException error)
        {
            throw new UnsupportedTypeException(typeof(TKey), "this cannot be a key: " + error.Message, error);
        }
    }
}
