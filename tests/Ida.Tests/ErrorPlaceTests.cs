using GroupCore.Membership;

namespace Ida.Tests;

/// <summary>What errors carry besides their text: shard, member, view, and how much waits.</summary>
public sealed class ErrorPlaceTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } };

    [Fact]
    public async Task A_participant_that_refuses_is_named_with_its_shard()
    {
        var world = DhtWorld.Founded(4, options: s_options with { Member = s_options.Member with { MaxQueuePerKey = 1 } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var first = map.PutAsync("a1", 1).AsTask();
        var second = await Assert.ThrowsAsync<OverloadedException>(() => world.EndAsync(map.PutAsync("a1", 2)));
        await world.EndAsync(first);
        Assert.Contains(second.Peer!.Value, new[] { world.Members[1].Self, world.Members[3].Self });
        AssertPlace(second, 1, second.Peer, world.View!.Id, 0);
        Assert.IsAssignableFrom<DhtRetryLaterException>(second);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_member_that_has_not_answered_when_the_time_is_over_is_named(int silent)
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync("a1", 1, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from != silent && to != silent);
        PooledOperationTests.Unknown(world, put);
        var unknown = Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException);
        AssertPlace(unknown, 1, world.Members[silent].Self, world.View!.Id, 0);
        AssertPlace(Assert.IsType<OperationNotExecutedException>(unknown.InnerException), 1, world.Members[silent].Self, world.View.Id, 0);
    }

    [Fact]
    public void What_waits_at_this_member_is_counted()
    {
        const int Waiting = 16;
        var world = DhtWorld.Founded(4, options: s_options with { Member = s_options.Member with { MaxInFlight = 1 } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var calls = Enumerable.Range(0, Waiting + 2).Select(i => map.PutAsync($"{i}a1", i).AsTask()).ToList();
        world.Poke();
        AssertPlace(Assert.IsType<OverloadedException>(calls[^1].Exception!.InnerException), 1, null, world.View!.Id, Waiting);
        world.RunUntil(() => calls.TrueForAll(static call => call.IsCompleted), "The calls");
    }

    [Fact]
    public async Task A_resolver_that_throws_is_told_with_the_shard_of_its_key()
    {
        var world = DhtWorld.Founded(4);
        var (dht, texts) = (world.Members[0].Dht, world.Members[0].Dht.Map<string, string>("texts"));
        Assert.Equal(1, (await Assert.ThrowsAsync<ResolverException>(() => world.EndAsync(texts.MergeAsync("a1", -1)))).Shard);
        var partly = await Assert.ThrowsAsync<PartlyAppliedException>(() => world.EndAsync(dht.NewBatch().Put(texts, "a1", "one").Merge(texts, "a0", -1).CommitAsync()));
        Assert.Equal(0, partly.Shard);
        Assert.IsAssignableFrom<DhtOutcomeException>(partly);
    }

    [Fact]
    public async Task The_end_of_this_part_is_told_with_its_view()
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        ulong view = world.View!.Id;
        world.Exclude(member);
        var over = await Assert.ThrowsAsync<NotDhtMemberException>(() => world.EndAsync(member.Dht.Map<string, int>("ints").GetAsync("a1")));
        Assert.Equal(view, over.View);
        Assert.IsAssignableFrom<DhtLostException>(over);
    }

    /// <summary>The retry waits for a place when this part ends, or comes after the end. It knows nothing of the put that it repeats, which is another call.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_retry_that_the_end_of_this_part_meets_is_told_with_the_last_view(bool faulted)
    {
        var world = DhtWorld.Founded(4, options: s_options with { Member = s_options.Member with { MaxInFlight = 1 } });
        var member = world.Members[0];
        var map = member.Dht.Map<string, long>("longs");
        var options = new PutOptions { Operation = (await world.EndAsync(map.MergePairAsync("a1", 1L))).Operation };
        ulong view = world.View!.Id;
        _ = map.MergePairAsync("b1", 1L).AsTask();
        var waiting = map.MergePairAsync("a1", 1L, options).AsTask();
        world.Poke();
        if (faulted) world.Fault(member);
        else world.Exclude(member);
        var told = new List<Task> { waiting };
        if (!faulted)
        {
            told.Add(map.MergePairAsync("a1", 1L, options).AsTask());
            world.Poke();
        }
        Assert.All(told, call =>
        {
            var unknown = Assert.IsType<OutcomeUnknownException>(call.Exception?.InnerException);
            Assert.StartsWith("The retry was not executed: ", unknown.Message, StringComparison.Ordinal);
            Assert.Equal(view, unknown.View);
        });
    }

    private static void AssertPlace(DhtException error, int? shard, ProcessId? peer, ulong? view, int? waiting) =>
        Assert.Equal((shard, peer, view, waiting), (error.Shard, error.Peer, error.View, error.QueueDepth));
}
