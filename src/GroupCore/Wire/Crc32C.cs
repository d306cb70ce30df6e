using System.Buffers.Binary;
using System.Numerics;

namespace GroupCore.Wire;

/// <summary>CRC-32C (Castagnoli) by the processor's instruction: finds damaged frames and chunks; not for adversaries.</summary>
internal static class Crc32C
{
    /// <summary>The checksum of <paramref name="bytes"/>; to continue a checksum, pass the one of the preceding bytes as <paramref name="before"/>.</summary>
    public static uint Compute(ReadOnlySpan<byte> bytes, uint before = 0)
    {
        uint crc = ~before;
        for (; bytes.Length >= 8; bytes = bytes[8..]) crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        foreach (byte one in bytes) crc = BitOperations.Crc32C(crc, one);
        return ~crc;
    }
}
