namespace Ida.Scenarios;

/// <summary>A hash as a careless user writes it: only the last character of the key, which gives the shard, with all other bits 0; or a constant.</summary>
internal sealed class CarelessHash(bool constant) : IStableHash
{
    public string Name => constant ? "constant" : "low bits";

    public ulong Hash(ReadOnlySpan<byte> key) => constant ? 7UL : key[^1];
}
