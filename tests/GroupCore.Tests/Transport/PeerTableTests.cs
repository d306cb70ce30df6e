using GroupCore.Groups.Shared;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport;

/// <summary>A table by the numbers of peers, which are never used again. Its cost depends on what it holds, not on how many numbers there were.</summary>
public sealed class PeerTableTests
{
    [Fact]
    public void A_million_peers_that_came_and_went_cost_no_page()
    {
        var table = new PeerTable<string>();
        table[3] = "stays";
        for (int peer = 4; peer < 1_000_000; peer++)
        {
            table[peer] = "comes";
            if (peer > 10) table[peer - 5] = peer - 5 == 3 ? "stays" : null;
        }
        Assert.Equal(2, table.Pages);
        Assert.Equal("stays", table[3]);
        Assert.Null(table[500_000]);
        Assert.Null(table[int.MaxValue]);
        Assert.Equal([3, 4, 5, 999_995, 999_996, 999_997, 999_998, 999_999], Numbers(table));
        table[999_999] = null;
        table[999_999] = null;
        Assert.Equal(-1, table.Next(999_999));
    }

    [Fact]
    public void A_table_holds_what_a_dictionary_would()
    {
        var random = new Random(7);
        var table = new PeerTable<string>();
        var model = new SortedDictionary<int, string>();
        for (int step = 0; step < 20_000; step++)
        {
            int peer = random.Next(2_000);
            if (random.Next(2) == 0)
            {
                table[peer] = model[peer] = $"{step}";
            }
            else
            {
                table[peer] = null;
                model.Remove(peer);
            }
            Assert.Equal(model.GetValueOrDefault(peer), table[peer]);
        }
        Assert.Equal(model.Keys, Numbers(table));
    }

    [Fact]
    public void The_ranks_of_a_view_cost_the_view_however_high_its_numbers_are()
    {
        int[] peers = [1_000_000, -1, 7, 1_000_008, 15, 2_000_000_000];
        var map = new RankMap(peers);
        Assert.InRange(map.Size, 6, 16);
        for (int rank = 0; rank < peers.Length; rank++)
            if (peers[rank] >= 0) Assert.Equal(rank, map[peers[rank]]);
        foreach (int other in new[] { -1, 0, 8, 23, 1_000_016, int.MaxValue }) Assert.Equal(-1, map[other]);
        Assert.Equal(-1, RankMap.Empty[0]);
        Assert.Equal(-1, new RankMap([-1])[0]);
    }

    private static List<int> Numbers(PeerTable<string> table)
    {
        var numbers = new List<int>();
        for (int peer = table.Next(0); peer >= 0; peer = table.Next(peer + 1)) numbers.Add(peer);
        return numbers;
    }
}
