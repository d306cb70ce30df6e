using System.Buffers.Binary;
using System.Numerics;

namespace Ida.Testing;

/// <summary>64-bit running hash of everything that happens: two runs of a seed must end with the same value.</summary>
internal struct TraceHash
{
    private const ulong Multiplier = 0x9E3779B97F4A7C15;

    public ulong Value { get; private set; }

    public void Add(ulong word) => Value = BitOperations.RotateLeft((Value ^ word) * Multiplier, 29);

    public void Add(ReadOnlySpan<byte> bytes)
    {
        ulong hash = Value ^ (ulong)bytes.Length;
        while (bytes.Length >= 8)
        {
            hash = BitOperations.RotateLeft((hash ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes)) * Multiplier, 29);
            bytes = bytes[8..];
        }
        ulong tail = 0;
        for (int i = 0; i < bytes.Length; i++) tail |= (ulong)bytes[i] << (8 * i);
        Value = BitOperations.RotateLeft((hash ^ tail) * Multiplier, 29);
    }
}
