namespace Ida.Tests;

/// <summary>A call beyond a bound is refused at once, is told when to come back, leaves nothing behind, and gets through when it comes back.</summary>
public sealed class OverloadTests
{
    [Fact]
    public async Task More_calls_than_a_member_lets_wait_are_told_when_to_try_again()
    {
        // One call on the way, sixteen that wait for its place.
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxInFlight = 1 } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var taken = Enumerable.Range(0, 17).Select(i => map.PutAsync($"{(char)('a' + i)}0", i).AsTask()).ToList();
        var refused = map.PutAsync("z0", 1).AsTask();
        world.Poke();
        Assert.DoesNotContain(taken, put => put.IsCompleted);
        var overload = Assert.IsType<OverloadedException>(refused.Exception!.InnerException);
        await AssertPassesLaterAsync(world, map, "z0", overload, () => world.RunUntil(() => taken.TrueForAll(put => put.IsCompletedSuccessfully), "The calls that were taken"), stored: null);
    }

    [Fact]
    public void F21_calls_are_refused_while_the_links_of_the_node_hold_what_they_may()
    {
        var world = DhtWorld.Founded(4, options: Options());
        var links = (NoLinks)world.Members[0].Inner.Links;
        (links.IsFull, links.TimeToRoom) = (true, TimeSpan.FromMilliseconds(7));
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var refused = map.PutAsync("a0", 1).AsTask();
        world.Poke();
        Assert.Equal(links.TimeToRoom, Assert.IsType<OverloadedException>(refused.Exception!.InnerException).RetryAfter);
        links.IsFull = false;
        var taken = map.PutAsync("a0", 1).AsTask();
        world.RunUntil(() => taken.IsCompleted, "The same call");
        Assert.True(taken.IsCompletedSuccessfully);
    }

    [Fact]
    public async Task A_put_on_a_key_with_too_many_unfinished_ones_is_told_when_to_try_again()
    {
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxQueuePerKey = 1 } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var taken = map.PutAsync("a0", 7).AsTask();
        var refused = map.PutAsync([new("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => taken.IsCompleted && refused.IsCompleted, "Both puts");
        Assert.True(taken.IsCompletedSuccessfully);
        var overload = Assert.IsType<OverloadedException>(refused.Exception!.InnerException);
        await AssertPassesLaterAsync(world, map, "a0", overload, world.Settle, stored: 7);
        Assert.False((await ReadAsync(world, map, "a1")).Found);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(60)]
    public async Task R_outcomes_of_a_member_with_a_put_that_is_stuck_are_bounded_by_bytes(int keys)
    {
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxOutcomeBytes = 8_192 } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var stuck = map.PutAsync("a1", 1).AsTask();
        world.Poke();
        KeyValuePair<string, int>[] pairs = [.. Enumerable.Range(0, keys).Select(i => KeyValuePair.Create($"k{i}_0", 5))];
        OverloadedException? overload = null;
        int passed = 0;
        for (; overload is null && passed < 1_000; passed++)
        {
            var put = map.PutAsync(pairs).AsTask();
            Deliver(put);
            if (!put.IsCompletedSuccessfully) overload = Assert.IsType<OverloadedException>(put.Exception!.InnerException);
        }
        Assert.NotNull(overload);
        Assert.InRange(passed, 10, 100);
        foreach (int member in new[] { 0, 2 })
            Assert.All(world.Members[member].Host.Current!.Participant.Sessions.All, session => Assert.InRange(session.OutcomeBytes, 0, 8_192 + 2_000));
        // Other members are not concerned.
        var other = world.Members[2].Dht.Map<string, int>("ints").PutAsync(pairs).AsTask();
        Deliver(other);
        Assert.True(other.IsCompletedSuccessfully, other.Exception?.ToString());
        await AssertPassesLaterAsync(world, map, "k0_0", overload, () => world.RunUntil(() => stuck.IsCompletedSuccessfully, "The put that was stuck"), stored: 5);
        world.Settle();
        Assert.All(world.Members, member => Assert.All(member.Host.Current!.Participant.Sessions.All, session => Assert.InRange(session.OutcomeBytes, 0, 2_000)));

        void Deliver(Task put)
        {
            for (int i = 0; i < 20 && !put.IsCompleted; i++)
            {
                world.Poke();
                world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
            }
        }
    }

    /// <summary>The put is the oldest of its member's: as long as it is open, nothing that is remembered of later ones goes.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_a_put_that_went_on_without_its_caller_ends_where_its_members_outcomes_take_all_room(bool excluded)
    {
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxOutcomeBytes = 8_192, TakeoverAfter = excluded ? TimeSpan.FromMilliseconds(20) : TimeSpan.FromHours(1) } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        using var cancellation = new CancellationTokenSource();
        var unknown = map.PutAsync([new("a0", 1), new("a1", 1)], cancellationToken: cancellation.Token).AsTask();
        world.Poke();
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(unknown.Exception!.InnerException).Operation;
        OverloadedException? overload = null;
        for (int i = 0; overload is null && i < 1_000; i++)
        {
            var put = map.PutAsync("b0", 5).AsTask();
            for (int j = 0; j < 20 && !put.IsCompleted; j++)
            {
                world.Poke();
                world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
            }
            overload = put.Exception?.InnerException as OverloadedException;
        }
        Assert.NotNull(overload);
        // The members of the other shard have not read the put.
        if (excluded)
        {
            for (int i = 0; i < 100 && world.Members[0].Dht.Counters.Takeovers + world.Members[2].Dht.Counters.Takeovers == 0; i++)
            {
                world.Advance(TimeSpan.FromMilliseconds(20));
                world.DeliverAll((from, to) => from != 0 || to == 2);
            }
        }
        else world.ChangeView();
        world.RunUntil(() => !world.Members[0].Host.Current!.Coordinator.Standing().Any(), "The end of the put without a caller", steps: 1_000);
        var told = map.PutAsync([new("a0", 1), new("a1", 1)], new() { Operation = id }).AsTask();
        world.RunUntil(() => told.IsCompleted, "The retry");
        Assert.Equal(2, (await told).Versions.Count);
        var next = map.PutAsync("b0", 6).AsTask();
        world.RunUntil(() => next.IsCompleted, "The next put");
        await next;
    }

    private static async Task AssertPassesLaterAsync(DhtWorld world, DhtMap<string, int> map, string key, OverloadedException overload, Action calm, int? stored)
    {
        Assert.InRange(overload.RetryAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1));
        calm();
        Assert.Equal(stored, await ReadAsync(world, map, key) is { Found: true } found ? found.Value : null);
        world.Advance(overload.RetryAfter);
        var again = map.PutAsync(key, 99).AsTask();
        world.RunUntil(() => again.IsCompleted, "The same call after the time it was told");
        await again;
        Assert.Equal(99, (await ReadAsync(world, map, key)).Value);
    }

    private static async Task<Entry<int>> ReadAsync(DhtWorld world, DhtMap<string, int> map, string key)
    {
        var get = map.GetAsync(key).AsTask();
        world.RunUntil(() => get.IsCompleted, "The read");
        return await get;
    }

    private static DhtOptions Options() => new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } };
}
