namespace Ida.Maps;

/// <summary>Where keys lie: in which shard, and where in the table of a slice and in a transfer. For any thread; on a caller's, an exception of the user's code belongs to that call.</summary>
internal sealed class KeyPlaces(DhtOptions options, int shards)
{
    private readonly IStableHash _hash = options.Hash;
    private readonly bool _spread = ReferenceEquals(options.Hash, StableHash.XxHash64);

    /// <summary>The hash of the options, over the bytes that place a key: its own without those of its map, or those of its shard key.</summary>
    public ulong Hash(ReadOnlySpan<byte> bytes) => _hash.Hash(bytes);

    /// <summary>The hash that places a key of a map, from the bytes of the key.</summary>
    public ulong Hash(DeclaredMap map, ReadOnlySpan<byte> key) => map.IsPlain ? Hash(key) : map.HashOf(_hash, key);

    public int ShardOf(ulong hash) => (int)(hash % (ulong)shards);

    /// <summary>Where a key with its map lies in the table of a slice: <see cref="KeyIdentity.PlaceOf"/>, of which the hash of the options is a part already in most cases.</summary>
    public ulong PlaceOf(DeclaredMap map, ulong hash, ReadOnlySpan<byte> key) => _spread && map.IsPlain ? hash ^ map.Id : KeyIdentity.PlaceOf(key);
}
