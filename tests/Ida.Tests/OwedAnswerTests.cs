using GroupCore.Runtime;
using Ida.Testing;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>
/// A participant owes one member answers with values to attempts of different issuers at one put: to that member's own attempt, and to one that it takes over. There is no room
/// for them, and all must come (dht-order.md#attempts-of-different-issuers).
/// </summary>
public sealed class OwedAnswerTests
{
    private const int Taker = 0, Retries = 1, Holder = 2, Issuer = 3;

    [Fact]
    public async Task An_answer_to_an_attempt_that_is_taken_over_does_not_replace_the_one_to_a_retry()
    {
        var world = DhtWorld.Founded(4);
        world.GivenFrom = 0;
        await world.EndAsync(Map(world, Issuer).PutAsync("a0", "x"));
        world.Settle();
        // Nothing of the put arrives, and its issuer is gone, so only the retries are left. One began in the view before, so its attempt here is its second.
        var id = PooledOperationTests.Unknown(world, Map(world, Issuer).MergeAsync("a0", 5, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        var first = Map(world, Retries).MergeAsync("a0", 5, new() { Operation = id }).AsTask();
        world.Poke();
        world.Crash(world.Members[Issuer], loseAll: true);
        world.ChangeView();
        ulong view = world.View!.Id;
        world.BulkBytes = 1;
        // Until this put is taken from the channel, there is no room there.
        var other = Map(world, Holder).PutAsync("b0", "y").AsTask();
        var second = Map(world, Taker).MergeAsync("a0", 5, new() { Operation = id }).AsTask();
        world.Poke();
        Deliver(world, Taker, Holder);
        Deliver(world, Retries, Taker, Holder);
        Deliver(world, Taker, Retries);
        Deliver(world, Holder, Retries);
        Deliver(world, Retries, Taker, Holder);
        var behind = Map(world, Retries).PutAsync("a0", "z").AsTask();
        world.Poke();
        Deliver(world, Retries, Taker, Holder);
        // The taker takes over the attempt of the other retry. Its own attempt is taken over by the other replica, which gets the answer while there is room on that way.
        world.Advance(TimeSpan.FromMilliseconds(110));
        Deliver(world, Taker, Holder);
        world.Advance(TimeSpan.FromMilliseconds(50));
        foreach (var type in new[] { DhtFrame.Propose, DhtFrame.Proposed, DhtFrame.Recover })
        {
            world.DeliverUntil(Holder, Taker, type);
            Deliver(world, Taker, Holder);
        }
        Assert.True(world.Waiting(Holder, Taker) > 0, world.Describe());
        Assert.False(second.IsCompleted);
        world.RunUntil(() => first.IsCompleted && second.IsCompleted && behind.IsCompleted && other.IsCompleted, "The calls", steps: 1000);
        Assert.Equal(("x5", "x5"), (await first, await second));
        Assert.Equal(view, world.View.Id);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    /// <summary>Several members retry one merge, in a view that stays: over links with little room, while members take attempts over.</summary>
    [Fact]
    public void Retries_of_a_merge_at_several_members_all_end_in_one_view() =>
        SimulationRunner.ForEachSeed(300, $"*{nameof(Retries_of_a_merge_at_several_members_all_end_in_one_view)}", static run =>
        {
            WorldCalls.GoOnInPlace();
            var random = new Prng(run.Seed);
            var world = DhtWorld.Founded(4, run.Seed, options: new()
            {
                ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(),
                Member = new()
                {
                    Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromMilliseconds(20),
                },
            });
            world.GivenFrom = 0;
            var id = PooledOperationTests.Unknown(world, Map(world, Issuer).MergeAsync("a0", 5, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
            var open = new Dictionary<int, Task>();
            // Retries that began in an earlier view, or were refused, have other numbers than retries that begin here.
            int early = random.Next(8);
            foreach (int member in (int[])[Taker, Retries, Holder])
                if ((early & (1 << member)) != 0) Retry(member);
            world.Poke();
            if (random.Next(2) == 0) world.Crash(world.Members[Issuer], loseAll: true);
            if (early != 0) world.ChangeView();
            ulong view = world.View!.Id;
            world.BulkBytes = 1 + random.Next(random.Next(2) == 0 ? 10 : 300);
            var slow = (From: random.Next(2) * Holder, Share: random.Next(12));
            var others = new List<Task>();
            int most = 40 + random.Next(400);
            for (int step = 0; step < most; step++)
            {
                int choice = random.Next(100);
                if (choice < 70) DeliverOne(world, random, slow);
                else if (choice < 75) Retry(random.Next(3));
                else if (choice < 78) others.Add(Map(world, random.Next(3)).PutAsync(random.Next(3) == 0 ? "b0" : "a0", "z").AsTask());
                else world.Advance(TimeSpan.FromMicroseconds(random.Next(8_000)));
                world.Poke();
            }
            world.RunUntil(() => others.Concat(open.Values).All(static call => call.IsCompleted), "The calls", steps: 1000);
            foreach (var call in others.Concat(open.Values)) Assert.True(call.IsCompletedSuccessfully, call.Exception?.ToString());
            Assert.Equal(view, world.View!.Id);
            world.Settle();
            world.AssertEqualReplicas();
            run.Trace(world.Deliveries, world.Trace);

            // One call at a time at each member.
            void Retry(int member)
            {
                if (!open.TryGetValue(member, out var before) || before.IsCompleted) open[member] = Map(world, member).MergeAsync("a0", 5, new() { Operation = id }).AsTask();
            }
        });

    private static DhtMap<string, string> Map(DhtWorld world, int member) => world.Members[member].Dht.Map<string, string>("texts");

    private static void Deliver(DhtWorld world, int from, params int[] to) => world.DeliverAll((one, other) => one == from && to.Contains(other));

    // One way between the replicas is slow, so that it has no room.
    private static void DeliverOne(DhtWorld world, Prng random, (int From, int Share) slow)
    {
        var busy = world.Busy();
        if (busy.Count == 0) return;
        var (from, to) = busy[random.Next(busy.Count)];
        if ((from, to) != (slow.From, Holder - slow.From) || random.Next(12) < slow.Share) world.Deliver(from, to);
    }
}
