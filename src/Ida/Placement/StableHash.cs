using System.Buffers.Binary;
using System.Numerics;

namespace Ida;

/// <summary>Hash functions that do not change between processes, machines and versions.</summary>
public static class StableHash
{
    /// <summary>xxHash64 with seed 0 (Yann Collet's published algorithm).</summary>
    public static IStableHash XxHash64 { get; } = new XxHash();

    internal static ulong Of(ReadOnlySpan<byte> bytes, ulong seed = 0)
    {
        const ulong p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9, p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;
        int length = bytes.Length;
        ulong hash;
        if (length >= 32)
        {
            ulong a = seed + p1 + p2, b = seed + p2, c = seed, d = seed - p1;
            while (bytes.Length >= 32)
            {
                a = Round(a, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
                b = Round(b, BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
                c = Round(c, BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]));
                d = Round(d, BinaryPrimitives.ReadUInt64LittleEndian(bytes[24..]));
                bytes = bytes[32..];
            }
            hash = BitOperations.RotateLeft(a, 1) + BitOperations.RotateLeft(b, 7) + BitOperations.RotateLeft(c, 12) + BitOperations.RotateLeft(d, 18);
            hash = Merge(hash, a);
            hash = Merge(hash, b);
            hash = Merge(hash, c);
            hash = Merge(hash, d);
        }
        else
        {
            hash = seed + p5;
        }
        hash += (ulong)length;
        while (bytes.Length >= 8)
        {
            hash = BitOperations.RotateLeft(hash ^ Round(0, BinaryPrimitives.ReadUInt64LittleEndian(bytes)), 27) * p1 + p4;
            bytes = bytes[8..];
        }
        if (bytes.Length >= 4)
        {
            hash = BitOperations.RotateLeft(hash ^ (BinaryPrimitives.ReadUInt32LittleEndian(bytes) * p1), 23) * p2 + p3;
            bytes = bytes[4..];
        }
        foreach (byte one in bytes) hash = BitOperations.RotateLeft(hash ^ (one * p5), 11) * p1;
        hash = (hash ^ (hash >> 33)) * p2;
        hash = (hash ^ (hash >> 29)) * p3;
        return hash ^ (hash >> 32);

        static ulong Round(ulong lane, ulong input) => BitOperations.RotateLeft(lane + input * p2, 31) * p1;
        static ulong Merge(ulong hash, ulong lane) => (hash ^ Round(0, lane)) * p1 + p4;
    }

    private sealed class XxHash : IStableHash
    {
        public string Name => "xxHash64";

        public ulong Hash(ReadOnlySpan<byte> key) => Of(key);
    }
}
