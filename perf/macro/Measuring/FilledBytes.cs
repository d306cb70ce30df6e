using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Ida.Perf.Macro.Measuring;

/// <summary>
/// Bytes that can be checked: two words of the caller, then a fill word that follows from both. A reader detects every changed byte and every mixture of two payloads, at the
/// cost of a vectorized comparison.
/// </summary>
internal static class FilledBytes
{
    public const int Least = 2 * sizeof(ulong);

    public static void Write(Span<byte> into, ulong first, ulong second)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(into, first);
        BinaryPrimitives.WriteUInt64LittleEndian(into[sizeof(ulong)..], second);
        var rest = into[Least..];
        ulong fill = Mix(first, second);
        MemoryMarshal.Cast<byte, ulong>(rest).Fill(fill);
        for (int i = rest.Length & ~7; i < rest.Length; i++) rest[i] = (byte)fill;
    }

    /// <summary>False if <see cref="Write"/> did not write these bytes.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out ulong first, out ulong second)
    {
        (first, second) = (0, 0);
        if (bytes.Length < Least) return false;
        first = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
        second = BinaryPrimitives.ReadUInt64LittleEndian(bytes[sizeof(ulong)..]);
        var rest = bytes[Least..];
        ulong fill = Mix(first, second);
        if (MemoryMarshal.Cast<byte, ulong>(rest).ContainsAnyExcept(fill)) return false;
        for (int i = rest.Length & ~7; i < rest.Length; i++)
            if (rest[i] != (byte)fill) return false;
        return true;
    }

    private static ulong Mix(ulong first, ulong second)
    {
        ulong x = (first * 0x9E37_79B9_7F4A_7C15) ^ (second + 0xD1B5_4A32_D192_ED03);
        x = (x ^ (x >> 32)) * 0xD6E8_FEB8_6659_FD93;
        return x ^ (x >> 32);
    }
}
