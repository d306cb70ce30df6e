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
    /// Declares the function that merges a <typeparamref name="TIncoming"/> into the value that a key holds, or into the default of <typeparamref name="TValue"/> if the key has none. The type
    /// of the incoming value selects the function. A null result removes the entry. Resolvers run at every replica, inside a turn of the protocol, which may be on any caller's thread, and under
    /// the invariant culture: they must be short, take no lock, and depend on nothing but their arguments. If a resolver throws, it throws at all replicas alike: the merge changes nothing and
    /// fails with <see cref="ResolverException"/>.
    /// </summary>
    /// <exception cref="DhtConfigurationException">The map already has a resolver for this type, or 256 resolvers; or the DHT is already enabled.</exception>
    public MapDeclaration<TKey, TValue> OnMerge<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TIncoming>(Func<TKey, TValue?, TIncoming, TValue?> resolver)
    {
        ArgumentNullException.ThrowIfNull(resolver);
        _map.Add(new Resolver<TKey, TValue, TIncoming>(_map.Name, resolver));
        return this;
    }

    /// <summary>
    /// Places keys by what the function returns for them (the shard key) instead of by the whole key. Keys with equal shard keys lie in one shard, also keys of other maps, and keys that are
    /// themselves the shard key. It takes precedence over an <see cref="IShardKey{T}"/> of the key type. The function runs at the caller and at every replica, under the invariant culture: it must
    /// be short, take no lock, throw for no key, and depend on nothing but the key. Members compare its type, but cannot compare its code.
    /// </summary>
    /// <typeparam name="TShard">Type of the shard key: any type that can be a key.</typeparam>
    /// <exception cref="DhtConfigurationException">The map already has a shard key; the type cannot be a key; or the DHT is already enabled.</exception>
    public MapDeclaration<TKey, TValue> ShardBy<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TShard>(Func<TKey, TShard> shardKey) where TShard : notnull
    {
        ArgumentNullException.ThrowIfNull(shardKey);
        _map.PlaceBy(new ShardKeyBy<TKey, TShard>(shardKey));
        return this;
    }
}
