namespace Ida.Transfer;

/// <summary>The digest of one entry; the digests of a range are combined by exclusive or.</summary>
internal static class EntryDigest
{
    public static ulong Of(ReadOnlySpan<byte> key, ulong version) => StableHash.Of(key, version);
}
