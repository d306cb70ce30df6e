using System.Buffers;
using GroupCore.Diagnostics;
using GroupCore.Groups.Buffers;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Coordination;
using Ida.Kinds;
using Ida.Maps;

namespace Ida;

/// <summary>
/// A declared map of the DHT. Operations on several keys are atomic, whichever shards the keys lie in, and ordered relative to each other; see
/// <see cref="ConsistencyLevel"/>. Source: dht-order.md#what-it-guarantees.
/// </summary>
/// <remarks>
/// Any call may throw <see cref="ShardDepopulatedException"/>, <see cref="NotDhtMemberException"/>, <see cref="OverloadedException"/>,
/// <see cref="OperationNotExecutedException"/>, <see cref="ViewUnavailableException"/>, <see cref="MapNotAgreedException"/>, <see cref="DhtConfigurationException"/>, <see cref="ValueTooLargeException"/>,
/// <see cref="UnsupportedTypeException"/> and <see cref="UserCodeException"/>, and <see cref="ArgumentException"/> for a key that occurs twice; calls that change entries also
/// <see cref="OutcomeUnknownException"/>, and calls that name an earlier put <see cref="OperationIdReusedException"/>. View changes are not errors: the call goes on by itself.
/// Cancelling before anything was sent throws <see cref="OperationCanceledException"/>. A put cancelled later goes on, and its call throws
/// <see cref="OutcomeUnknownException"/>; so does a retry that is already waiting, since it learned nothing new about its put. Await a returned <see cref="ValueTask{T}"/> once.
/// </remarks>
/// <typeparam name="TKey">Type of the keys; equal keys have equal bytes.</typeparam>
/// <typeparam name="TValue">Type of the values; at most 256 KiB each when written.</typeparam>
public sealed class DhtMap<TKey, TValue> where TKey : notnull
{
    // Computed once: testing a value for null boxes it where the compiler does not optimise.
    private static readonly bool s_nullable = default(TValue) is null;
    private readonly Dht _dht;
    private readonly DeclaredMap<TKey, TValue> _declared;
    private readonly OperationPool<GetOneOperation<TKey, TValue>> _ones;
    private readonly OperationPool<GetManyOperation<TKey, TValue>> _many;
    private readonly OperationPool<MergeOperation<TKey, TValue>> _merges;

    internal DhtMap(Dht dht, DeclaredMap<TKey, TValue> declared)
    {
        (_dht, _declared) = (dht, declared);
        _ones = new(pool => new(dht.Layer, this, pool));
        _many = new(pool => new(dht.Layer, this, pool));
        _merges = new(pool => new(dht, this, pool));
    }

    /// <summary>The name of the map.</summary>
    public string Name => _declared.Name;

    internal Dht Owner => _dht;

    internal byte[] Identity => _declared.Identity;

    internal IPayloadSerializer Serializer => _dht.Serializer;

    /// <summary>Reads one key. Sends no message when this member holds it.</summary>
    public ValueTask<Entry<TValue>> GetAsync(TKey key, GetOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _ones.Rent();
        _dht.BeginGet(op, options);
        AddGet(op, key);
        return DhtTraces.Submit(op, "get", Name, cancellationToken);
    }

    /// <summary>Reads all keys at one point of the order; absent keys are left out.</summary>
    public ValueTask<EntryDictionary<TKey, TValue>> GetAsync(IEnumerable<TKey> keys, GetOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        TKey[] asked = [.. keys];
        if (cancellationToken.IsCancellationRequested) return ValueTask.FromCanceled<EntryDictionary<TKey, TValue>>(cancellationToken);
        var op = _many.Rent();
        _dht.BeginGet(op, options);
        if (asked.Length == 0)
        {
            op.Drop();
            return new(new EntryDictionary<TKey, TValue>([]));
        }
        op.For(asked);
        foreach (var key in asked) AddGet(op, key);
        op.Seal(nameof(keys));
        return DhtTraces.Submit(op, "get", Name, cancellationToken);
    }

    /// <summary>Puts one pair, whatever the key holds; a null value removes the entry.</summary>
    public ValueTask<PutResult> PutAsync(TKey key, TValue? value, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _dht.NewPut(options);
        AddPut(op, key, value, null);
        return Dht.Submit(op, options, "put", Name, cancellationToken);
    }

    /// <summary>Puts all pairs atomically, whatever the keys hold; a null value removes the entry. A key that occurs twice throws <see cref="ArgumentException"/>.</summary>
    public ValueTask<PutResult> PutAsync(IEnumerable<KeyValuePair<TKey, TValue?>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pairs);
        var op = _dht.NewPut(options);
        foreach (var (key, value) in new Elements<KeyValuePair<TKey, TValue?>>(pairs)) AddPut(op, key, value, null);
        return Dht.Submit(op, options, "put", Name, cancellationToken);
    }

    /// <summary>Puts a value if the key has none. Returns whether it did.</summary>
    public ValueTask<bool> TryAddAsync(TKey key, TValue value, PutOptions? options = null, CancellationToken cancellationToken = default) => ChangeAsync(key, value, 0, options, cancellationToken);

    /// <summary>Puts a value if the key has the version <paramref name="expected"/>. Returns whether it did. An absent key has version 0.</summary>
    public ValueTask<bool> TryReplaceAsync(TKey key, TValue value, ulong expected, PutOptions? options = null, CancellationToken cancellationToken = default) =>
        ChangeAsync(key, value, expected, options, cancellationToken);

    /// <summary>Removes the entry if it has the version <paramref name="expected"/>. Returns whether it did.</summary>
    public ValueTask<bool> TryRemoveAsync(TKey key, ulong expected, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _dht.NewChange(options);
        AddRemove(op, key, expected);
        return Dht.Submit(op, options, "remove", Name, cancellationToken);
    }

    /// <summary>Removes an entry. Returns whether there was one.</summary>
    public ValueTask<bool> RemoveAsync(TKey key, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _dht.NewChange(options);
        AddRemove(op, key, null);
        return Dht.Submit(op, options, "remove", Name, cancellationToken);
    }

    /// <summary>Removes entries atomically. The result has version 0 for a key without an entry.</summary>
    public ValueTask<PutResult> RemoveAsync(IEnumerable<TKey> keys, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        var op = _dht.NewPut(options);
        foreach (var key in new Elements<TKey>(keys)) AddRemove(op, key, null);
        return Dht.Submit(op, options, "remove", Name, cancellationToken);
    }

    /// <summary>
    /// Merges a value into what the key holds, with the map's resolver for the type of the value. Returns what is stored afterwards: the default of the type if the resolver removed the entry.
    /// The resolver is also called for a key without a value, with the default of the stored type.
    /// </summary>
    /// <exception cref="NoResolverException">There is no such resolver.</exception>
    /// <exception cref="ResolverException">The resolver threw; nothing was changed.</exception>
    public ValueTask<TValue?> MergeAsync<TIncoming>(TKey key, TIncoming value, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        var op = _merges.Rent();
        _dht.BeginPut(op, options);
        AddMerge(op, key, value);
        return Dht.Submit(op, options, "merge", Name, cancellationToken);
    }

    /// <summary>Merges one value into each key, atomically, as <see cref="MergeAsync{TIncoming}(TKey, TIncoming, PutOptions, CancellationToken)"/> does.</summary>
    /// <exception cref="NoResolverException">There is no such resolver.</exception>
    /// <exception cref="ResolverException">A resolver threw; nothing was changed.</exception>
    /// <exception cref="PartlyAppliedException">A resolver threw, and keys in other shards were changed.</exception>
    public ValueTask<PutResult> MergeAsync<TIncoming>(IEnumerable<KeyValuePair<TKey, TIncoming>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(pairs);
        var op = _dht.NewPut(options);
        foreach (var (key, value) in new Elements<KeyValuePair<TKey, TIncoming>>(pairs)) AddMerge(op, key, value);
        return Dht.Submit(op, options, "merge", Name, cancellationToken);
    }

    /// <summary>
    /// Reads a key, computes a new value, and puts it if the entry has not changed meanwhile; otherwise begins again. Returns what is stored afterwards: null if
    /// <paramref name="change"/> returned null, which removes the entry.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="change">
    /// Makes the new value from the current entry, such as <c>hits => hits.ValueOr(0) + 1</c>. It may run several times, on any thread. What it throws ends the call; nothing was executed then.
    /// </param>
    /// <param name="options">
    /// The timeout covers the whole call. Reads and puts are <see cref="ConsistencyLevel.Strict"/>, whatever the level. <see cref="PutOptions.Operation"/> is refused: an update is several puts.
    /// </param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="OutcomeUnknownException">
    /// What became of the last put is not known. To find out, call <see cref="TryReplaceAsync"/> (or <see cref="TryAddAsync"/>, <see cref="TryRemoveAsync"/>) with the value that
    /// <paramref name="change"/> returned last, the version of the entry that it was given, and the id in the exception. Calling this method again might apply the change twice.
    /// </exception>
    public ValueTask<TValue?> UpdateAsync(TKey key, Func<Entry<TValue>, TValue?> change, PutOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(change);
        if (options?.Operation is not null) throw new ArgumentException($"An update is several puts: {nameof(PutOptions.Operation)} can name none of them.", nameof(options));
        var time = _dht.TimeOf(options);
        return DhtTraces.IsOn ? UpdateTracedAsync(key, change, time, cancellationToken) : UpdateAsync(key, change, time, cancellationToken);
    }

    private async ValueTask<TValue?> UpdateTracedAsync(TKey key, Func<Entry<TValue>, TValue?> change, TimeSpan time, CancellationToken cancellationToken)
    {
        var activity = DhtTraces.Start("update", Name);
        return await Traced.EndAsync(activity, UpdateAsync(key, change, time, cancellationToken)).ConfigureAwait(false);
    }

    private async ValueTask<TValue?> UpdateAsync(TKey key, Func<Entry<TValue>, TValue?> change, TimeSpan time, CancellationToken cancellationToken)
    {
        long began = _dht.Layer.Node.Clock();
        for (int attempt = 1; ; attempt++)
        {
            var entry = await GetAsync(key, new() { Level = ConsistencyLevel.Strict, Timeout = Left() }, cancellationToken).ConfigureAwait(false);
            var value = change(entry);
            if (s_nullable && value is null && !entry.Found) return default;
            var op = _dht.NewChange(new() { Level = ConsistencyLevel.Strict, Timeout = Left() });
            AddPut(op, key, value, entry.Version);
            if (await Dht.Submit(op, null, "put", Name, cancellationToken).ConfigureAwait(false)) return value;

            TimeSpan Left()
            {
                if (time == Timeout.InfiniteTimeSpan) return time;
                var left = time - TimeSpan.FromTicks((_dht.Layer.Node.Clock() - began) / 100);
                return left > TimeSpan.Zero ? left : throw new OperationNotExecutedException($"Not updated within {time}. In {attempt - 1} attempts the entry had changed meanwhile.");
            }
        }
    }

    internal void AddPut(ClientOperation op, TKey key, TValue? value, ulong? expected)
    {
        if (s_nullable && value is null) AddRemove(op, key, expected);
        else Add(op, key, Deed(KeyEffect.Put, expected), value, null);
    }

    internal void AddRemove(ClientOperation op, TKey key, ulong? expected) => Add(op, key, Deed(KeyEffect.Remove, expected), default(TValue), null);

    internal void AddCheck(ClientOperation op, TKey key, ulong expected) => Add(op, key, Deed(KeyEffect.Check, expected), default(TValue), null);

    internal void AddMerge<TIncoming>(ClientOperation op, TKey key, TIncoming value)
    {
        var resolver = _declared.FindResolver<TIncoming>() ?? throw new NoResolverException(Name, typeof(TValue), typeof(TIncoming), [.. _declared.Resolvers.Select(static one => one.Incoming)]);
        if (value is null) throw new ArgumentNullException(nameof(value));
        Add(op, key, new(KeyEffect.Merge, resolver.Id), value, resolver);
    }

    internal void AddGet(ClientOperation op, TKey key) => Add(op, key, new(KeyEffect.Read), default(TValue), null);

    private ValueTask<bool> ChangeAsync(TKey key, TValue value, ulong expected, PutOptions? options, CancellationToken cancellationToken)
    {
        if (s_nullable && value is null) throw new ArgumentNullException(nameof(value));
        var op = _dht.NewChange(options);
        AddPut(op, key, value, expected);
        return Dht.Submit(op, options, "put", Name, cancellationToken);
    }

    /// <summary>The stored value, from its bytes; the key's bytes are for error messages.</summary>
    internal TValue ToValue(ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> key)
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
            throw new UserCodeException("The serializer", Name, _declared.TextOf(key[KeyIdentity.MapBytes..]), error);
        }
    }

    private static KeyDeed Deed(KeyEffect effect, ulong? expected) => new(effect, 0, expected is not null, expected ?? 0);

    /// <summary>Writes key and value into the operation; leaves nothing in it when one of them is refused.</summary>
    private void Add<T>(ClientOperation op, TKey key, in KeyDeed deed, T? value, DeclaredResolver? resolver)
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
            if (deed.Effect.Brings) WriteValue(op.Bytes, value);
            if (op.Bytes.Length < end) throw new InvalidOperationException("It took back bytes that are not its own.");
            at = _declared.IsPlain ? "The hash" : "The shard key, or the hash of it,";
            // Hash its bytes, as the members that hold it do: two objects for the same key may differ in what is not written, such as the offset of a time.
            ulong hash = _dht.Layer.Places.Hash(_declared, op.Bytes.Written[(start + KeyIdentity.MapBytes)..end]);
            op.AddPart(start, end, new()
            {
                Shard = _dht.Layer.Places.ShardOf(hash), Place = _dht.Layer.Places.PlaceOf(_declared, hash, op.Bytes.Written[start..end]), Uses = (Declared?)resolver ?? _declared,
                Deed = deed,
            });
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
