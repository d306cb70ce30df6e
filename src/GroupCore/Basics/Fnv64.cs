namespace GroupCore.Basics;

/// <summary>64-bit FNV-1a over words: the same on every machine and in every process.</summary>
internal sealed class Fnv64
{
    private const ulong Prime = 0x100000001B3;

    public ulong Value { get; private set; } = 0xCBF29CE484222325;

    public void Add(ulong word)
    {
        for (int i = 0; i < 8; i++, word >>= 8) Value = (Value ^ (word & 0xFF)) * Prime;
    }

    public void Add(ReadOnlySpan<byte> bytes)
    {
        ulong value = Value;
        foreach (byte b in bytes) value = (value ^ b) * Prime;
        Value = value;
    }
}
