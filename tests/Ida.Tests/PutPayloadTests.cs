using Ida.Shared;

namespace Ida.Tests;

/// <summary>What the id of a put stands for: its pairs in whatever order, and the shards in which its member places them.</summary>
public sealed class PutPayloadTests
{
    [Fact]
    public void The_order_of_the_pairs_does_not_matter() => Assert.Equal(Of((11, 0), (22, 1), (33, 0)), Of((33, 0), (11, 0), (22, 1)));

    [Fact]
    public void Other_pairs_are_another_put()
    {
        ulong put = Of((11, 0), (22, 0));
        foreach (ulong other in (ulong[])[Of((11, 0)), Of((11, 0), (23, 0)), Of((11, 0), (22, 0), (33, 0))])
        {
            Assert.NotEqual(put, other);
            Assert.False(PutPayload.SamePairs(put, other));
        }
    }

    /// <summary>The user's hash places keys, and may differ between members.</summary>
    [Fact]
    public void The_same_pairs_in_other_shards_are_the_same_pairs_and_not_the_same_whole()
    {
        ulong[] all = [Of((11, 0), (22, 0)), Of((11, 0), (22, 1)), Of((11, 1), (22, 0)), Of((11, 1), (22, 1))];
        Assert.Equal(4, all.Distinct().Count());
        Assert.All(all, one => Assert.True(PutPayload.SamePairs(all[0], one)));
    }

    [Fact]
    public void No_put_stands_for_nothing() => Assert.Equal(1UL, PutPayload.Of(0, 0));

    [Fact]
    public void What_is_done_to_a_key_and_what_is_expected_of_it_make_another_pair()
    {
        const ulong Pair = 11;
        ulong[] all = [Pair, PutPayload.With(Pair, 0), PutPayload.With(Pair, 1), PutPayload.With(PutPayload.With(Pair, 0), 1), PutPayload.With(PutPayload.With(Pair, 1), 0)];
        Assert.Equal(all.Length, all.Distinct().Count());
    }

    // Real hashes use all their bits; these numbers do not.
    private static ulong Of(params (ulong Pair, int Shard)[] parts)
    {
        ulong pairs = 0, places = 0;
        foreach (var (pair, shard) in parts) PutPayload.Add(ref pairs, ref places, PutPayload.With(pair, 1), shard);
        return PutPayload.Of(pairs, places);
    }
}
