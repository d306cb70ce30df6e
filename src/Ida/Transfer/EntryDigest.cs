namespace Ida.Transfer;

/// <summary>The digest of one entry; exclusive or combines the digests of a range.</summary>
internal static class EntryDigest
{
    public static ulong Of(ReadOnlySpan<byte> key, ulong version) => StableHash.Of(key, version);
}
