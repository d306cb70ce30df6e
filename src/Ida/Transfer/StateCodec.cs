using Ida.Shared;
using Ida.Wire;

namespace Ida.Transfer;

/// <summary>
/// The bytes of the frames of a state transfer, each written and read here. The sessions in a StateEnd are those of <see cref="SessionCodec"/>; ChunkAck and Ready have no bytes.
/// Source: dht-view-change.md#messages.
/// </summary>
internal static class StateCodec
{
    /// <summary>Bytes of an entry in a chunk beside key and value, at most.</summary>
    public const int EntryBytes = 24;

    /// <summary>Bytes of a value in an answer beside the value, at most.</summary>
    public const int FetchedBytes = 16;

    // A version is a time, or the previous version plus one.
    private const ulong MaxVersion = HybridClock.MaxTime + HybridClock.Jump;

    /// <summary>Pull: the digest u64 of each range that the newcomer has.</summary>
    public static void WritePull(ref BodyWriter to, ReadOnlySpan<ulong> digests)
    {
        foreach (ulong digest in digests) to.U64(digest);
    }

    public static void ReadPull(ref BodyReader from, Span<ulong> digests)
    {
        foreach (ref ulong digest in digests) digest = from.U64();
        if (from.Remaining > 0) from.Fail();
    }

    /// <summary>Chunk: range u8, flags u8 (first of the range, last of the range), then entries.</summary>
    public static void WriteChunkHead(ref BodyWriter to, int range, bool first, bool last)
    {
        to.U8((byte)range);
        to.U8((byte)((first ? 1 : 0) | (last ? 2 : 0)));
    }

    public static int ReadChunkHead(ref BodyReader from, out bool first, out bool last)
    {
        int range = from.U8(), flags = from.U8();
        (first, last) = ((flags & 1) != 0, (flags & 2) != 0);
        return range;
    }

    /// <summary>An entry in a chunk: key, version var, value.</summary>
    public static void WriteEntry(ref BodyWriter to, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version)
    {
        to.Blob(key);
        to.Var(version);
        to.Blob(value);
    }

    public static void ReadEntry(ref BodyReader from, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value, out ulong version)
    {
        key = ReadKey(ref from);
        version = ReadVersion(ref from);
        value = from.Blob(DhtLimits.ValueBytes);
    }

    /// <summary>StateEnd: whether it is the last piece u8, the clock at the view change u64, then a piece of the sessions.</summary>
    public static void WriteEndHead(ref BodyWriter to, bool last, ulong clock)
    {
        to.U8(last ? (byte)1 : (byte)0);
        to.U64(clock);
    }

    public static bool ReadEndHead(ref BodyReader from, out ulong clock)
    {
        bool last = from.U8() != 0;
        clock = from.U64();
        if (clock > HybridClock.MaxTime) from.Fail();
        return last;
    }

    /// <summary>A key in a Fetch, behind their number var: whether its value is needed u8, or only whether there is one; then the key.</summary>
    public static void WriteWanted(ref BodyWriter to, ReadOnlySpan<byte> key, bool value)
    {
        to.U8(value ? (byte)1 : (byte)0);
        to.Blob(key);
    }

    public static ReadOnlySpan<byte> ReadWanted(ref BodyReader from, out bool value)
    {
        value = from.U8() != 0;
        return ReadKey(ref from);
    }

    /// <summary>A key's answer in a Fetched, behind their number var: 0 u8 absent, 1 present, 2 with its version var and value.</summary>
    public static void WriteFetched(ref BodyWriter to, bool present, byte[]? value, ulong version)
    {
        to.U8((byte)(!present ? 0 : value is null ? 1 : 2));
        if (value is null) return;
        to.Var(version);
        to.Blob(value);
    }

    public static void ReadFetched(ref BodyReader from, out bool present, out byte[]? value, out ulong version)
    {
        byte kind = from.U8();
        if (kind > 2) from.Fail();
        present = kind != 0;
        version = kind == 2 ? ReadVersion(ref from) : 0;
        value = kind == 2 && from.Blob(DhtLimits.ValueBytes) is var bytes && !from.Failed ? bytes.ToArray() : null;
    }

    private static ReadOnlySpan<byte> ReadKey(ref BodyReader from)
    {
        var key = from.Blob(DhtLimits.KeyBytes);
        if (key.Length < KeyIdentity.MapBytes) from.Fail();
        return key;
    }

    private static ulong ReadVersion(ref BodyReader from)
    {
        ulong version = from.Var();
        if (version > MaxVersion) from.Fail();
        return version;
    }
}
