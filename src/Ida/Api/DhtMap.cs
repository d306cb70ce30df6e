using System.Buffers;
using GroupCore.Groups.Multicast;
using GroupCore.Wire;
using Ida.Coordination;

namespace Ida;

/// <summary>A typed view of one member's DHT. Callers' threads serialize and check; everything else happens on the loop.</summary>
internal sealed class DhtMap<TKey, TValue> : IDhtMap<TKey, TValue> where TKey : notnull
{
    // Asked once: a test of a value for null boxes it where the compiler does not optimise.
    private static readonly bool s_nullable = default(TValue) is null;
    private readonly Dht _dht;
    private readonly OperationPool<GetOneOperation<TKey, TValue>> _ones;
    private readonly OperationPool<GetManyOperation<TKey, TValue>> _many;
    private readonly ulong _resolver;

    public DhtMap(Dht dht, string name)
    {
        (_dht, Name) = (dht, name);
        Identity = KeyIdentity.OfMap(name, typeof(TKey), typeof(TValue));
        _resolver = dht.Registry.Find<TKey, TValue, TValue>();
        _ones = new(pool => new(dht.Layer, this, pool));
        _many = new(pool => new(dht.Layer, this, pool));
    }

    public string Name { get; }

    public byte[] Identity { get; }

    public IPayloadSerializer Serializer => _dht.Serializer;

    public ValueTask<PutResult> OrderedPutAsync(IEnumerable<KeyValuePair<TKey, TValue?>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pairs);
        var op = _dht.NewPut(options);
        foreach (var (key, value) in new Elements<KeyValuePair<TKey, TValue?>>(pairs)) AddPut(op, key, value);
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
        foreach (var key in new Elements<TKey>(keys)) AddRemove(op, key);
        return Dht.Submit(op, options, cancellationToken);
    }

    public ValueTask<PutResult> OrderedMergeAsync<TIncoming>(IEnumerable<KeyValuePair<TKey, TIncoming>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pairs);
        var op = _dht.NewPut(options);
        foreach (var (key, value) in new Elements<KeyValuePair<TKey, TIncoming>>(pairs)) AddMerge(op, key, value);
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
        if (cancellationToken.IsCancellationRequested) return ValueTask.FromCanceled<IReadOnlyDictionary<TKey, Versioned<TValue>>>(cancellationToken);
        var op = _many.Rent();
        _dht.BeginGet(op, options);
        if (asked.Length == 0)
        {
            op.Drop();
            return new(new Dictionary<TKey, Versioned<TValue>>());
        }
        op.For(asked);
        foreach (var key in asked) AddGet(op, key);
        op.Seal(nameof(keys));
        return op.Submit(cancellationToken);
    }

    public ValueTask<Versioned<TValue>?> OrderedGetAsync(TKey key, GetOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _ones.Rent();
        _dht.BeginGet(op, options);
        AddGet(op, key);
        return op.Submit(cancellationToken);
    }

    public void AddPut(ClientOperation op, TKey key, TValue? value)
    {
        if (s_nullable && value is null) AddRemove(op, key);
        else Add(op, key, true, value, _resolver);
    }

    public void AddRemove(ClientOperation op, TKey key) => Add(op, key, false, default(TValue), 0);

    public void AddMerge<TIncoming>(ClientOperation op, TKey key, TIncoming value)
    {
        ulong resolver = _dht.Registry.Find<TKey, TValue, TIncoming>();
        if (resolver == 0) throw new NoCollisionResolverException(typeof(TKey), typeof(TValue), typeof(TIncoming));
        if (value is null) throw new ArgumentNullException(nameof(value));
        Add(op, key, true, value, resolver);
    }

    public void AddGet(ClientOperation op, TKey key) => Add(op, key, false, default(TValue), 0);

    /// <summary>The stored value, from its bytes; the key's bytes are for error messages.</summary>
    public TValue ToValue(ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> key)
    {
        try
        {
            return Serializer.Deserialize<TValue>(bytes);
        }
        catch (InvalidDataException error)
        {
            throw new UnsupportedTypeException(typeof(TValue), "the stored bytes are not a value of this type.", error);
        }
        catch (Exception error)
        {
            throw new UserCodeException("The serializer", Name, TextOf(key), error);
        }
    }

    private static string TextOf(ReadOnlySpan<byte> key)
    {
        try
        {
            return UserCodeException.TextOf(CanonicalKey.Read<TKey>(key[KeyIdentity.MapBytes..]));
        }
        catch (Exception)
        {
            // It cannot be read as a key: show its bytes.
            return Convert.ToHexString(key[..Math.Min(key.Length, 50)]);
        }
    }

    /// <summary>Writes key and value into the operation; leaves nothing there when one of them is refused.</summary>
    private void Add<T>(ClientOperation op, TKey key, bool stores, T? value, ulong resolver)
    {
        ArgumentNullException.ThrowIfNull(key);
        int start = op.Bytes.Length, parts = op.PartCount;
        string at = "The contract of the key";
        try
        {
            op.Bytes.Write(Identity);
            WriteKey(op.Bytes, key);
            int end = op.Bytes.Length;
            at = "The serializer";
            if (stores) WriteValue(op.Bytes, value);
            if (op.Bytes.Length < end) throw new InvalidOperationException("It took back bytes that are not its own.");
            at = "The hash";
            op.AddPart(start, end, stores, resolver);
        }
        catch (Exception error) when (error is not DhtException)
        {
            throw new UserCodeException(at, Name, UserCodeException.TextOf(key), error);
        }
        finally
        {
            if (op.PartCount == parts) op.Bytes.Cut(start);
        }
    }

    private static void WriteKey(PayloadBuffer to, TKey key)
    {
        try
        {
            CanonicalKey.Write(to, key);
        }
        catch (ContractException error)
        {
            throw new UnsupportedTypeException(typeof(TKey), "this cannot be a key: " + error.Message, error);
        }
    }

    private void WriteValue<T>(PayloadBuffer to, T value)
    {
        try
        {
            Serializer.Serialize(to, value);
        }
        catch (ContractException error)
        {
            throw new UnsupportedTypeException(typeof(T), "values of this type cannot be stored: " + error.Message, error);
        }
    }
}
