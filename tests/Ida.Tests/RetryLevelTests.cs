namespace Ida.Tests;

/// <summary>A retry has the level that it asks for, whatever level the put had.</summary>
public sealed class RetryLevelTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_strict_retry_of_an_ordered_put_waits_until_all_reads_that_begin_later_see_it(bool comesLater)
    {
        int shown = 0;
        // Which of two replicas a reader asks depends on the keys.
        foreach (char last in "13579acegikmoqsuwy")
        {
            var world = DhtWorld.Founded(5, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
            string a = "a" + last, b = "b" + last, c = "c" + last;
            var maps = world.Members.ConvertAll(static member => member.Dht.Map<string, int>("ints"));
            // One replica has heard of a put by a member whose clock is ahead, so it proposes a later time than the other.
            world.Members[2].Skew = 50_000_000;
            _ = maps[2].PutAsync([new(b, 1), new(c, 1)]).AsTask();
            world.Members[2].Turn(static () => { });
            while (world.Deliver(2, 3)) { }
            var put = maps[0].PutAsync([new(a, 7), new(b, 7)], new() { Level = ConsistencyLevel.Ordered, Timeout = TimeSpan.FromMilliseconds(5) }).AsTask();
            world.Members[0].Turn(static () => { });
            while (world.Deliver(0, 1)) { }
            while (world.Deliver(0, 3)) { }
            for (int i = 0; i < 3 && !put.IsCompleted; i++) world.Advance(TimeSpan.FromMilliseconds(5));
            var id = Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException).Operation;
            Task<PutResult>? retry = null;
            if (!comesLater) Retry();
            while (world.Deliver(1, 0)) { }
            while (world.Deliver(3, 0)) { }
            if (comesLater) Retry();
            bool told = retry!.IsCompleted;
            int before = world.Waiting(4, 1);
            var read = maps[4].GetAsync([a, b]).AsTask();
            world.Members[4].Turn(static () => { });
            if (world.Waiting(4, 1) == before) continue;
            shown++;
            while (world.Deliver(4, 1)) { }
            while (world.Deliver(0, 1)) { }
            while (world.Deliver(1, 4)) { }
            world.RunUntil(() => read.IsCompleted && retry.IsCompleted, "The read and the retry");
            if (told) Assert.Equal(2, (await read).Count);
            Assert.Equal(2, (await retry).Versions.Count);

            void Retry()
            {
                retry = maps[0].PutAsync([new(a, 7), new(b, 7)], new() { Level = ConsistencyLevel.Strict, Operation = id }).AsTask();
                world.Members[0].Turn(static () => { });
            }
        }
        Assert.NotEqual(0, shown);
    }

    /// <summary>The next put of the same member says which outcomes may be forgotten. That of the early put may not, since a retry may still wait for it.</summary>
    [Fact]
    public async Task A_put_that_returned_early_is_not_acknowledged_before_it_is_stable()
    {
        var world = DhtWorld.Founded(4);
        // One replica proposes a later time than the other, so that the put is not stable with its commit.
        world.Members[2].Skew = 300_000_000;
        var ahead = world.Members[2].Dht.Map<string, int>("ints").GetAsync(["a0", "b0"]).AsTask();
        var map = world.Members[1].Dht.Map<string, int>("ints");
        var early = map.PutAsync("a0", 7, new() { Level = ConsistencyLevel.Ordered }).AsTask();
        world.Poke();
        Assert.True(ahead.IsCompletedSuccessfully);
        world.DeliverAll(static (from, _) => from == 1);
        world.DeliverAll(static (_, to) => to == 1);
        Assert.True(early.IsCompletedSuccessfully);
        Assert.Empty((await early).Versions);
        var next = map.PutAsync("c0", 1).AsTask();
        world.Poke();
        world.DeliverAll(static (from, _) => from == 1);
        var retry = world.Members[3].Dht.Map<string, int>("ints").PutAsync("a0", 7, new() { Operation = (await early).Operation }).AsTask();
        world.RunUntil(() => retry.IsCompleted && next.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
    }
}
