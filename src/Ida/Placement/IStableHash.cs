namespace Ida;

/// <summary>Says where a key lies, from canonical bytes, the same in every process and for ever.</summary>
public interface IStableHash
{
    /// <summary>Name of the function, 1 to 256 bytes of UTF-8, read once: members whose names differ do not work together.</summary>
    string Name { get; }

    /// <summary>
    /// Where a key lies; the shard is the remainder by the number of shards. It gets the bytes of the key alone, so that the same key lies in the same shard in each map; of a key with a shard key
    /// (<see cref="IShardKey{T}"/>, <see cref="MapDeclaration{TKey, TValue}.ShardBy"/>) those of the shard key.
    /// </summary>
    ulong Hash(ReadOnlySpan<byte> key);
}
