using Ida.Ordering;

namespace Ida.Tests;

/// <summary>A user's hash says in which shard a key lies, and nothing else: neither the table nor the ranges of a transfer depend on how good it is.</summary>
public sealed class PlacementTests
{
    private const int Keys = 4_000;

    /// <summary>Few different places, with empty upper bits: "all keys of a customer together".</summary>
    [Fact]
    public void F25_a_hash_with_few_values_fills_all_ranges_alike()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 1, TargetSize = 2, Hash = new ByCustomer(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        for (int i = 0; i < Keys; i += 1000)
        {
            var put = map.PutAsync(Enumerable.Range(i, 1000).Select(n => KeyValuePair.Create($"{n}/{n % 2}", n))).AsTask();
            world.RunUntil(() => put.IsCompleted, "The put");
            Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString());
        }
        foreach (var member in world.Members)
        {
            var entries = new List<Entry>();
            int all = 0, most = 0;
            for (int range = 0; range < EntryTable.Ranges; range++)
            {
                member.Host.Current!.Participant.Slice.Table.CopyRange(range, entries);
                all += entries.Count;
                most = Math.Max(most, entries.Count);
            }
            // There are 7.8 on average; 40 in one range would be a miracle.
            Assert.Equal(Keys / 2, all);
            Assert.InRange(most, 8, 40);
        }
    }

    [Fact]
    public void F25_a_state_under_such_a_hash_goes_over_in_all_ranges()
    {
        var world = DhtWorld.Founded(2, options: new() { ShardSize = 2, TargetSize = 2, Hash = new ByCustomer(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync(Enumerable.Range(0, 1000).Select(n => KeyValuePair.Create($"{n}/{n % 2}", n))).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(late).Digest);
        Assert.Equal(1000, DhtWorld.Slice(late).Entries.Count);
        Assert.True(world.Members[0].Dht.Counters.SentOf(Wire.DhtFrame.Chunk) > EntryTable.Ranges / 2);
    }

    private sealed class ByCustomer : IStableHash
    {
        public string Name => "customer";

        public ulong Hash(ReadOnlySpan<byte> key) => (ulong)(key[^1] - '0');
    }
}
