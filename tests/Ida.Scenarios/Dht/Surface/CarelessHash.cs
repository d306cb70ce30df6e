namespace Ida.Scenarios;

/// <summary>A hash as a careless user writes it: the shard is the last character of the key, and nothing else of it is set, or nothing at all.</summary>
internal sealed class CarelessHash(bool constant) : IStableHash
{
    public string Name => constant ? "constant" : "low bits";

    public ulong Hash(ReadOnlySpan<byte> key) => constant ? 7UL : key[^1];
}
