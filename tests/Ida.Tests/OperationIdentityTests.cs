using Ida.Coordination;

namespace Ida.Tests;

/// <summary>
/// An operation id names one put, its pairs included. Any other put under the id is refused with a typed error, whichever member it comes through,
/// and whatever happens meanwhile.
/// </summary>
public sealed class OperationIdentityTests
{
    /// <summary>
    /// A put was executed, and another put waits under its id at the issuer. That says nothing about which of the two was executed: neither to a retry at another member, to
    /// which replicas tell nothing any more, nor to a retry at the issuer.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task R_a_put_that_waits_under_a_borrowed_id_does_not_make_the_executed_one_not_executed(int retriedAt)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var executed = map.MergePairAsync("a1", 1L).AsTask();
        world.RunUntil(() => executed.IsCompleted, "The put");
        var id = (await executed).Operation;
        var next = map.MergePairAsync("b1", 1L).AsTask();
        world.RunUntil(() => next.IsCompleted, "A put that acknowledges");
        world.Settle();
        var borrowed = map.MergePairAsync("a1", 7L, new() { Operation = id }).AsTask();
        world.Poke();
        Assert.False(borrowed.IsCompleted);
        var retry = world.Members[retriedAt].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        for (int i = 0; i < 5; i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => from != 0 || to == 2);
            world.Advance(TimeSpan.FromMilliseconds(100));
        }
        Assert.IsAssignableFrom<OutcomeUnknownException>(retry.Exception?.InnerException);
        world.RunUntil(() => borrowed.IsCompleted, "The other put");
    }

    /// <summary>The retry is not executed, which says nothing of its put: that was executed here.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_the_end_of_the_dht_does_not_tell_a_retry_that_its_put_was_not_executed(bool stops)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 1, HandoverTimeout = TimeSpan.Zero } });
        var first = world.Members[0].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L).AsTask();
        world.RunUntil(() => first.IsCompleted, "The put");
        var id = (await first).Operation;
        var member = world.Members[2];
        var map = member.Dht.Map<string, long>("longs");
        var calls = new List<Task<PutResult>>();
        void Retry() => calls.Add(map.MergePairAsync("a1", 1L, new() { Operation = id with { Sequence = id.Sequence + (2 * (ulong)calls.Count) } }).AsTask());
        Retry();
        world.Poke();
        Assert.Equal(OperationPhase.Admitted, Assert.Single(member.Host.Current!.Coordinator.Standing()).Place);
        var holds = map.MergePairAsync("b1", 1L).AsTask();
        world.Poke();
        Retry();
        world.Poke();
        if (stops)
        {
            Retry();
            world.Fault(member);
        }
        else
        {
            _ = member.Dht.CloseAsync().AsTask();
            world.Poke();
            Retry();
            world.Poke();
        }
        Assert.True(holds.IsFaulted);
        foreach (var (i, call) in calls.Index())
        {
            Assert.True(call.IsCompleted);
            var unknown = Assert.IsType<OutcomeUnknownException>(call.Exception!.InnerException);
            Assert.Equal(id.Sequence + (2 * (ulong)i), unknown.Operation.Sequence);
            Assert.True(unknown.InnerException is NotDhtMemberException or GroupCore.Runtime.NodeFaultedException);
        }
    }

    private const ulong Far = DhtWorld.Named;

    [Fact]
    public void F27_two_puts_that_cross_under_one_id_leave_replicas_equal()
    {
        var world = DhtWorld.Founded(4);
        var id = Id(world, 1);
        var one = Put(world, 1, id, ("a0", 1));
        var other = Put(world, 3, id, ("a0", 2));
        world.Poke();
        // Each reaches one of the two replicas first.
        world.Deliver(1, 0);
        world.Deliver(3, 2);
        world.RunUntil(() => one.IsCompleted && other.IsCompleted, "Both puts");
        world.Settle();
        Judge(world, [(one, ["a0"], 1), (other, ["a0"], 2)]);
    }

    [Fact]
    public async Task F27_the_second_put_under_an_id_is_refused_and_the_first_keeps_its_answer()
    {
        var world = DhtWorld.Founded(4);
        var id = Id(world, 1);
        var first = Put(world, 1, id, ("a0", 1), ("a1", 1));
        world.RunUntil(() => first.IsCompleted, "The first put");
        foreach (int through in new[] { 0, 1, 2, 3 })
        {
            foreach (var pairs in new[] { new[] { ("a0", 2), ("a1", 1) }, [("a0", 1)], [("a0", 1), ("b1", 1)], [("b0", 1), ("b1", 1)] })
            {
                var second = Put(world, through, id, pairs);
                world.RunUntil(() => second.IsCompleted, "The second put");
                Assert.Equal(id, Assert.IsType<OperationIdReusedException>(second.Exception?.InnerException).Operation);
            }
            var again = Put(world, through, id, ("a1", 1), ("a0", 1));
            world.RunUntil(() => again.IsCompleted, "The first put again");
            Assert.Equal((await first).Versions.Reverse(), (await again).Versions);
        }
        world.Settle();
        Assert.Equal(["1 a0", "1 a1"], world.Initialised(0).Concat(world.Initialised(1)).SelectMany(m => Values(world, m)).Distinct().Order());
    }

    [Fact]
    public async Task F27_a_newcomer_learns_the_pairs_of_an_id_with_the_state()
    {
        var world = DhtWorld.Founded(4);
        var id = Id(world, 1);
        var first = Put(world, 1, id, ("a0", 1));
        world.RunUntil(() => first.IsCompleted, "The first put");
        world.Settle();
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Settle();
        foreach (int old in new[] { 0, 2 }) world.Crash(world.Members[old]);
        world.ChangeView();
        world.Settle();
        var second = Put(world, 1, id, ("a0", 2));
        world.RunUntil(() => second.IsCompleted, "The second put");
        Assert.IsType<OperationIdReusedException>(second.Exception?.InnerException);
        var again = Put(world, 3, id, ("a0", 1));
        world.RunUntil(() => again.IsCompleted, "The first put again");
        Assert.Equal((await first).Versions, (await again).Versions);
    }

    /// <summary>A coordinator dies between its proposals. The member that takes over, or the decision at the view change, meets the other put as well.</summary>
    [Fact]
    public void F27_whatever_order_and_whoever_dies_each_put_is_whole_or_absent()
    {
        int refused = 0, crossed = 0, done = 0, lost = 0;
        for (ulong seed = 1; seed <= 400; seed++)
        {
            var world = DhtWorld.Founded(6, seed, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromMilliseconds(20) } });
            var random = world.Random;
            var id = Id(world, 1);
            var calls = new List<(Task<PutResult> Put, string[] Keys, int Value, int Through)>();
            for (int value = 1; value <= 2; value++)
            {
                string[] keys = ["a0", .. new[] { "a1", "b0", "b1" }.Where(_ => random.Next(2) == 0)];
                for (int i = random.Next(2); i >= 0; i--)
                {
                    int through = random.Next(6), number = value;
                    if (!calls.Exists(one => one.Through == through && one.Value == number)) calls.Add((Put(world, through, id, [.. keys.Select(k => (k, number))]), keys, value, through));
                    for (int step = random.Next(6); step > 0; step--) Disturb(world);
                }
            }
            for (int step = random.Next(40); step > 0; step--) Disturb(world);
            int crashed = random.Next(3) == 0 ? random.Next(6) : -1;
            if (crashed >= 0) world.Crash(world.Members[crashed]);
            if (crashed >= 0 || random.Next(3) == 0) world.ChangeView();
            world.RunUntil(() => calls.TrueForAll(one => one.Put.IsCompleted || one.Through == crashed), "The calls");
            world.Settle();
            Judge(world, [.. calls.Where(one => one.Through != crashed).Select(one => (one.Put, one.Keys, one.Value))]);
            refused += calls.Count(one => one.Put.Exception?.InnerException is OperationIdReusedException);
            crossed += calls.Count(one => one.Put.Exception?.InnerException is OutcomeUnknownException);
            done += calls.Count(one => one.Put.IsCompletedSuccessfully);
            lost += crashed >= 0 ? 1 : 0;
        }
        Assert.True(refused > 50 && crossed > 500 && done > 200 && lost > 50, $"{refused} refused, {crossed} met another retry, {done} done, {lost} coordinators lost");
    }

    private static OperationId Id(DhtWorld world, int owner) => new(world.Members[owner].Host.Current!.State.Session, Far);

    private static Task<PutResult> Put(DhtWorld world, int through, OperationId id, params (string Key, int Value)[] pairs) =>
        world.Members[through].Dht.Map<string, int>("ints").PutAsync(pairs.Select(p => KeyValuePair.Create(p.Key, p.Value)), new() { Operation = id }).AsTask();

    /// <summary>Replicas are equal. A call that was told "done" finds all of its pairs; a call that was refused finds none, unless another call of the same pairs was done.</summary>
    private static void Judge(DhtWorld world, List<(Task<PutResult> Put, string[] Keys, int Value)> calls)
    {
        string[] held = [];
        for (int shard = 0; shard < 2; shard++)
        {
            var initialised = world.Initialised(shard);
            Assert.All(initialised, one => Assert.Equal(DhtWorld.Slice(initialised[0]).Digest, DhtWorld.Slice(one).Digest));
            held = [.. held, .. Values(world, initialised[0])];
        }
        Assert.True(held.Select(one => one[0]).Distinct().Count() <= 1, "Both were executed: " + string.Join(", ", held));
        foreach (var (put, keys, value) in calls)
        {
            int found = keys.Count(key => held.Contains($"{value} {key}"));
            if (put.IsCompletedSuccessfully) Assert.Equal(keys.Length, found);
            else
            {
                Assert.True(put.Exception!.InnerException is OperationIdReusedException or OutcomeUnknownException, put.Exception.ToString());
                Assert.True(found == 0 || (found == keys.Length), "Half of a put.");
            }
        }
    }

    private static IEnumerable<string> Values(DhtWorld world, Scenarios.HarnessMember member) =>
        DhtWorld.Slice(member).Of(member.Dht.Map<string, int>("ints")).Select(e => $"{e.Value.Value} {e.Key}");

    private static void Disturb(DhtWorld world)
    {
        world.Poke();
        var busy = world.Busy();
        if (busy.Count == 0 || world.Random.Next(10) == 0) world.Now += world.Random.Next(3_000_000);
        else
        {
            var (from, to) = busy[world.Random.Next(busy.Count)];
            world.Deliver(from, to);
        }
    }
}
