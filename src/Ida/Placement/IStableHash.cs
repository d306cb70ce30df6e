namespace Ida;

/// <summary>Maps canonical key bytes to the place of a key, the same in every process and for ever.</summary>
public interface IStableHash
{
    /// <summary>Name of the function, 1 to 256 bytes of UTF-8, read once: members whose names differ do not work together.</summary>
    string Name { get; }

    /// <summary>The place of a key; the shard is its remainder by the number of shards. The first 8 bytes of the key name the map.</summary>
    ulong Hash(ReadOnlySpan<byte> key);
}
