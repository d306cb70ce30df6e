namespace Ida;

/// <summary>
/// A typed view of the DHT: its name and both types are part of every key's identity. Operations on several keys are atomic, over
/// whatever shards the keys lie in, and ordered among each other; see <see cref="ConsistencyLevel"/>. Source: dht-order.md#what-it-guarantees.
/// </summary>
/// <remarks>
/// All calls throw <see cref="ShardDepopulatedException"/>, <see cref="NotDhtMemberException"/>, <see cref="OverloadedException"/>, <see cref="OperationNotExecutedException"/>,
/// <see cref="ViewUnavailableException"/>, <see cref="ValueTooLargeException"/>, <see cref="UnsupportedTypeException"/>, <see cref="DhtConfigurationException"/> and <see cref="UserCodeException"/>;
/// puts also <see cref="OutcomeUnknownException"/>. View changes are not errors: the call goes on by itself.
/// Cancelling before anything was sent throws <see cref="OperationCanceledException"/>; a put cancelled later goes on and throws
/// <see cref="OutcomeUnknownException"/>, and so does a cancelled retry that waits already: it learned nothing new of its put. Await a returned <see cref="ValueTask{T}"/> once.
/// </remarks>
/// <typeparam name="TKey">Type of the keys; equal keys have equal bytes.</typeparam>
/// <typeparam name="TValue">Type of the values; at most 256 KiB each when written.</typeparam>
public interface IDhtMap<TKey, TValue> where TKey : notnull
{
    /// <summary>The name of the map.</summary>
    string Name { get; }

    /// <summary>
    /// Puts all pairs atomically; a null value removes the entry. Where a resolver for (key, value, value) is registered and the key
    /// holds a value, the resolver decides. Duplicate keys throw <see cref="ArgumentException"/>.
    /// </summary>
    ValueTask<PutResult> OrderedPutAsync(IEnumerable<KeyValuePair<TKey, TValue?>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Puts one pair; a null value removes the entry.</summary>
    ValueTask<PutResult> OrderedPutAsync(TKey key, TValue? value, PutOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Removes entries atomically.</summary>
    ValueTask<PutResult> OrderedRemoveAsync(IEnumerable<TKey> keys, PutOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>
    /// Merges one value into each key, atomically, with the resolver registered for (key, stored, incoming); it is also called for a key
    /// without a value, with the default of the stored type. Throws <see cref="NoCollisionResolverException"/> when there is none.
    /// </summary>
    ValueTask<PutResult> OrderedMergeAsync<TIncoming>(IEnumerable<KeyValuePair<TKey, TIncoming>> pairs, PutOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Merges one value into one key.</summary>
    ValueTask<PutResult> OrderedMergeAsync<TIncoming>(TKey key, TIncoming value, PutOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Reads all keys at one point of the order; absent keys are left out.</summary>
    ValueTask<IReadOnlyDictionary<TKey, Versioned<TValue>>> OrderedGetAsync(IEnumerable<TKey> keys, GetOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Reads one key; null when it is absent. Sends no message when this member holds the key.</summary>
    ValueTask<Versioned<TValue>?> OrderedGetAsync(TKey key, GetOptions? options = null, CancellationToken cancellationToken = default);
}
