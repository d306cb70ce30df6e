namespace Ida.Scenarios;

/// <summary>The shard is the last character of the key modulo the number of shards (a power of two), so that tests place keys by name.</summary>
internal sealed class LastByteHash : IStableHash
{
    public string Name => "last byte";

    public ulong Hash(ReadOnlySpan<byte> key) => (StableHash.XxHash64.Hash(key) & ~0xFFUL) | key[^1];
}
