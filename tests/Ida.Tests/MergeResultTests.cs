using System.Buffers;
using GroupCore.Wire;

namespace Ida.Tests;

/// <summary>A merge of one key returns what it has stored.</summary>
public sealed class MergeResultTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_merge_tells_the_value_that_it_stored_or_that_the_entry_is_gone(int member)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[member].Dht.Map<string, string>("texts");
        Assert.Equal("5", await world.EndAsync(map.MergeAsync("a0", 5)));
        Assert.Equal("57", await world.EndAsync(map.MergeAsync("a0", 7)));
        Assert.Null(await world.EndAsync(map.MergeAsync("a0", 0)));
        Assert.False((await world.EndAsync(map.GetAsync("a0"))).Found);
        Assert.Null(await world.EndAsync(map.MergeAsync("a0", 0)));
        var numbers = world.Members[member].Dht.Map<string, long>("longs");
        Assert.Equal(4, await world.EndAsync(numbers.MergeAsync("a0", 4L)));
        Assert.Equal(9, await world.EndAsync(numbers.MergeAsync("a0", 5L)));
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    /// <summary>All members merge at once, so results are computed ahead for times that are not the final ones.</summary>
    [Fact]
    public async Task Merges_in_conflict_tell_each_value_once()
    {
        const int Each = 10;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var world = DhtWorld.Founded(4, seed);
            foreach (var member in world.Members) member.Skew = world.Random.Next(50_000_000);
            var merges = Enumerable.Range(0, 4 * Each).Select(i => world.Members[i % 4].Dht.Map<string, long>("longs").MergeAsync("a0", 1L).AsTask()).ToList();
            world.Poke();
            for (int step = 0; step < 20_000 && !merges.TrueForAll(static merge => merge.IsCompleted); step++)
            {
                var busy = world.Busy();
                if (busy.Count == 0) world.Advance(TimeSpan.FromMilliseconds(1));
                else
                {
                    var (from, to) = busy[world.Random.Next(busy.Count)];
                    world.Deliver(from, to);
                }
            }
            Assert.Equal(Enumerable.Range(1, 4 * Each).Select(static i => (long)i), (await Task.WhenAll(merges)).Order());
            world.AssertIdle();
        }
    }

    /// <summary>The merge is executed before its caller's serializer fails, so the error must not say that it was not executed.</summary>
    [Fact]
    public async Task A_merge_whose_value_cannot_be_read_is_not_said_to_be_undone()
    {
        var world = new DhtWorld { Options = new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Serializer = new ForgetfulSerializer(), Member = new() { Timeout = TimeSpan.FromHours(10) } } };
        world.Declare = static maps => maps.Map<string, string>("texts").OnMerge<int>(static (_, _, _) => "unreadable");
        world.Found(4);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var error = await Assert.ThrowsAsync<OutcomeUnknownException>(() => world.EndAsync(map.MergeAsync("a0", 1)));
        Assert.IsType<UserCodeException>(error.InnerException);
        Assert.Single(DhtWorld.Slice(world.Members[0]).Entries);
        var again = await Assert.ThrowsAsync<OutcomeUnknownException>(() => world.EndAsync(map.MergeAsync("a0", 1, new() { Operation = error.Operation })));
        Assert.Equal(error.Operation, again.Operation);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    private sealed class ForgetfulSerializer : IPayloadSerializer
    {
        public void Serialize<T>(IBufferWriter<byte> to, T value) => ContractSerializer.Instance.Serialize(to, value);

        public T Deserialize<T>(ReadOnlySpan<byte> bytes)
        {
            var value = ContractSerializer.Instance.Deserialize<T>(bytes);
            return value is "unreadable" ? throw new TimeZoneNotFoundException("of the user") : value;
        }
    }
}
