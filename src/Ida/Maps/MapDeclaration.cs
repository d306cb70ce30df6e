using System.Diagnostics.CodeAnalysis;
using GroupCore.Wire;
using Ida.Maps;

namespace Ida;

/// <summary>The declaration of one map: takes its resolvers and its shard key, until the DHT is enabled.</summary>
/// <typeparam name="TKey">Type of the keys.</typeparam>
/// <typeparam name="TValue">Type of the values.</typeparam>
public sealed class MapDeclaration<TKey, TValue> where TKey : notnull
{
    private readonly DeclaredMap<TKey, TValue> _map;

    internal MapDeclaration(DeclaredMap<TKey, TValue> map) => _map = map;

    /// <summary>The name of the map.</summary>
    public string Name => _map.Name;

    /// <summary>
    /// Declares the function that merges a <typeparamref name="TIncoming"/> into the value that a key holds, or into the default of <typeparamref name="TValue"/> where the key has none; it is
    /// chosen by the type of the incoming value. A null result removes the entry. Resolvers run at every replica, inside a turn of the protocol, which may be on any caller's thread, and under
    /// the invariant culture: they must be short, take no lock, and depend on nothing but their arguments. A resolver that throws fails the merge with <see cref="ResolverException"/>, and
    /// changes nothing, at all replicas alike.
    /// </summary>
    /// <exception cref="DhtConfigurationException">The map has a resolver for this type already, or has 256 resolvers; or the DHT is enabled already.</exception>
    public MapDeclaration<TKey, TValue> OnMerge<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TIncoming>(Func<TKey, TValue?, TIncoming, TValue?> resolver)
    {
        ArgumentNullException.ThrowIfNull(resolver);
        _map.Add(new Resolver<TKey, TValue, TIncoming>(_map.Name, resolver));
        return this;
    }

    /// <summary>
    /// Places keys by what the function makes of them instead of by the whole key: keys with equal shard keys lie in one shard, also keys of other maps, and keys that are the shard key themselves.
    /// It counts more than an <see cref="IShardKey{T}"/> of the key type. The function runs at the caller and at every replica, under the invariant culture: it must be short, take no lock,
    /// throw for no key, and depend on nothing but the key. It is a part of what members agree on, as far as its type goes.
    /// </summary>
    /// <typeparam name="TShard">Type of the shard key; whatever can be a key.</typeparam>
    /// <exception cref="DhtConfigurationException">The map has a shard key already; the type cannot be a key; or the DHT is enabled already.</exception>
    public MapDeclaration<TKey, TValue> ShardBy<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TShard>(Func<TKey, TShard> shardKey) where TShard : notnull
    {
        ArgumentNullException.ThrowIfNull(shardKey);
        _map.PlaceBy(new ShardKeyBy<TKey, TShard>(shardKey));
        return this;
    }
}
