namespace Ida.Shared;

/// <summary>
/// What the id of a put stands for, in 64 bits: 40 of a hash of its pairs, in whatever order, and 24 of a hash of the shards in which its member
/// places them. The user's hash places keys and may differ between members: then the pairs are equal and the whole is not.
/// </summary>
internal static class PutPayload
{
    private const int PlaceBits = 24;
    private const ulong Odd = 0x9E3779B97F4A7C15;

    /// <summary>Adds a pair to the two sums; <paramref name="pair"/> is its hash.</summary>
    public static void Add(ref ulong pairs, ref ulong places, ulong pair, int shard)
    {
        pairs += pair;
        ulong place = (pair ^ ((ulong)(uint)shard + 1)) * Odd;
        places += place ^ (place >> 32);
    }

    /// <summary>The hash of a pair with one more number: what is done to its key, or the version that is expected of it.</summary>
    public static ulong With(ulong pair, ulong number)
    {
        ulong mixed = (pair ^ (number + 1)) * Odd;
        return mixed ^ (mixed >> 32);
    }

    /// <summary>Never 0.</summary>
    public static ulong Of(ulong pairs, ulong places) => Math.Max(1, (pairs & ~((1UL << PlaceBits) - 1)) | ((places * Odd) >> (64 - PlaceBits)));

    /// <summary>Whether both have the same pairs, in whatever shards.</summary>
    public static bool SamePairs(ulong one, ulong other) => (one ^ other) >> PlaceBits == 0;
}
