using System.Buffers.Binary;
using System.Numerics;

namespace GroupCore.Wire;

/// <summary>xxHash64 (Y. Collet): the same 64 bits for the same bytes and seed on every machine; not for adversaries.</summary>
internal static class XxHash64
{
    private const ulong P1 = 0x9E3779B185EBCA87, P2 = 0xC2B2AE3D27D4EB4F, P3 = 0x165667B19E3779F9, P4 = 0x85EBCA77C2B2AE63, P5 = 0x27D4EB2F165667C5;

    /// <summary>The hash of <paramref name="bytes"/> under <paramref name="seed"/>.</summary>
    public static ulong Hash(ReadOnlySpan<byte> bytes, ulong seed = 0)
    {
        ulong total = (ulong)bytes.Length, hash;
        if (bytes.Length >= 32)
        {
            ulong a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
            for (; bytes.Length >= 32; bytes = bytes[32..])
            {
                a = Round(a, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
                b = Round(b, BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
                c = Round(c, BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]));
                d = Round(d, BinaryPrimitives.ReadUInt64LittleEndian(bytes[24..]));
            }
            hash = BitOperations.RotateLeft(a, 1) + BitOperations.RotateLeft(b, 7) + BitOperations.RotateLeft(c, 12) + BitOperations.RotateLeft(d, 18);
            hash = Merge(Merge(Merge(Merge(hash, a), b), c), d);
        }
        else hash = seed + P5;

        hash += total;
        for (; bytes.Length >= 8; bytes = bytes[8..])
            hash = BitOperations.RotateLeft(hash ^ Round(0, BinaryPrimitives.ReadUInt64LittleEndian(bytes)), 27) * P1 + P4;
        if (bytes.Length >= 4)
        {
            hash = BitOperations.RotateLeft(hash ^ (BinaryPrimitives.ReadUInt32LittleEndian(bytes) * P1), 23) * P2 + P3;
            bytes = bytes[4..];
        }
        foreach (byte one in bytes) hash = BitOperations.RotateLeft(hash ^ (one * P5), 11) * P1;

        hash = (hash ^ (hash >> 33)) * P2;
        hash = (hash ^ (hash >> 29)) * P3;
        return hash ^ (hash >> 32);
    }

    private static ulong Round(ulong lane, ulong input) => BitOperations.RotateLeft(lane + input * P2, 31) * P1;

    private static ulong Merge(ulong hash, ulong lane) => (hash ^ Round(0, lane)) * P1 + P4;
}
