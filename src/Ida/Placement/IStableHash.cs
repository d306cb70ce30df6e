namespace Ida;

/// <summary>Says where a key lies, from canonical bytes, the same in every process and for ever.</summary>
public interface IStableHash
{
    /// <summary>Name of the function, 1 to 256 bytes of UTF-8, read once: members whose names differ do not work together.</summary>
    string Name { get; }

    /// <summary>
    /// Where a key lies; the shard is the result modulo the number of shards. It gets only the bytes of the key, so that the same key lies in the same shard in each map; for a key with a shard key
    /// (<see cref="IShardKey{T}"/>, <see cref="MapDeclaration{TKey, TValue}.ShardBy"/>), only those of the shard key.
    /// </summary>
    ulong Hash(ReadOnlySpan<byte> key);
}
