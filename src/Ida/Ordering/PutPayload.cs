namespace Ida.Ordering;

/// <summary>
/// What the id of a put stands for, in 64 bits: 40 of a hash of its pairs, in whatever order, and 24 of one of the shards in which its member
/// places them. The hash that places keys is the user's and may differ between members: then the pairs are the same and the whole is not.
/// </summary>
internal static class PutPayload
{
    private const int PlaceBits = 24;
    private const ulong Odd = 0x9E3779B97F4A7C15;

    /// <summary>Adds a pair, of which <paramref name="pair"/> is a hash, to the two sums.</summary>
    public static void Add(ref ulong pairs, ref ulong places, ulong pair, int shard)
    {
        pairs += pair;
        ulong place = (pair ^ ((ulong)(uint)shard + 1)) * Odd;
        places += place ^ (place >> 32);
    }

    /// <summary>Never 0.</summary>
    public static ulong Of(ulong pairs, ulong places) => Math.Max(1, (pairs & ~((1UL << PlaceBits) - 1)) | ((places * Odd) >> (64 - PlaceBits)));

    /// <summary>Whether both are of the same pairs, wherever they lie.</summary>
    public static bool SamePairs(ulong one, ulong other) => (one ^ other) >> PlaceBits == 0;
}
