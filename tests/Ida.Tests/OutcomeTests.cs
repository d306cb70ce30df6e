using Ida.Coordination;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Every unknown outcome is told to a retry, at the member that issued the put and at others.</summary>
public sealed class OutcomeTests
{
    [Theory]
    [InlineData(0, ConsistencyLevel.Strict)]
    [InlineData(2, ConsistencyLevel.Strict)]
    [InlineData(1, ConsistencyLevel.Ordered)]
    [InlineData(0, ConsistencyLevel.Ordered)]
    public async Task F22_each_of_a_thousand_cancelled_puts_is_resolved_by_a_retry(int retriedAt, ConsistencyLevel level)
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var unknown = new List<OperationId>();
        for (int round = 0; round < 10; round++)
        {
            using var cancellation = new CancellationTokenSource();
            var puts = Enumerable.Range(0, 100).Select(i => map.MergeAsync([new KeyValuePair<string, long>($"k{round * 100 + i}-0", 1), new($"k{round * 100 + i}-1", 1)], new() { Level = level }, cancellation.Token).AsTask()).ToList();
            world.Poke();
            await cancellation.CancelAsync();
            world.Poke();
            foreach (var put in puts) unknown.Add(Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException).Operation);
            world.Settle();
        }
        // Replicas may forget them all.
        Acknowledge(world, map, "z0", "z1");
        var at = world.Members[retriedAt].Dht.Map<string, long>("longs");
        for (int i = 0; i < unknown.Count; i++)
        {
            var retry = at.MergeAsync([new KeyValuePair<string, long>($"k{i}-1", 1), new($"k{i}-0", 1)], new() { Operation = unknown[i], Level = level }).AsTask();
            world.RunUntil(() => retry.IsCompleted, "A retry");
            Assert.Equal(2, (await retry).Versions.Count);
        }
        for (int i = 0; i < unknown.Count; i += 97) await AssertStoredAsync(world, map, $"k{i}-0", $"k{i}-1");
    }

    [Fact]
    public async Task F22_a_put_acknowledged_at_one_of_its_shards_ends_in_bounded_time()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        KeyValuePair<string, long>[] pairs = [new("a0", 1), new("a1", 1)];
        var put = map.MergeAsync(pairs).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        // The shard of members 0 and 2 hears that the outcome is known; the other shard does not.
        var next = map.MergePairAsync("b0", 1L).AsTask();
        world.RunUntil(() => next.IsCompleted, "The next put");
        world.ChangeView();
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergeAsync(pairs, new() { Operation = (await put).Operation, Timeout = TimeSpan.FromSeconds(1) }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry", steps: 600);
        Assert.Equal((await put).Operation, (await retry).Operation);
        world.Settle();
        Assert.All(world.Members, m => Assert.False(m.Host.Current!.Coordinator.HasWork));
        await AssertStoredAsync(world, map, "a0", "a1");
    }

    /// <summary>The replicas of one shard tell what they remember; those of the other may forget it. The member that issued the put knows all of it.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F22_a_put_acknowledged_at_one_of_its_shards_is_told_with_its_versions(bool inAnotherView)
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        KeyValuePair<string, long>[] pairs = [new("a0", 1), new("a1", 1)];
        var id = PooledOperationTests.Unknown(world, map.MergeAsync(pairs, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        Acknowledge(world, map, "b0");
        world.Settle();
        if (inAnotherView) world.ChangeView();
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergeAsync(pairs, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal(2, (await retry).Versions.Count);
        await AssertStoredAsync(world, map, "a0", "a1");
    }

    /// <summary>
    /// The same, but the issuer falls silent when it is asked: it is known that the put was executed, and its versions are not known yet. A retry that is cut short may be
    /// repeated. It is told the versions when the issuer goes on, or succeeds without them when the issuer is excluded.
    /// </summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task F22_a_put_that_a_shard_remembers_is_told_when_its_member_was_silent(bool cancelled, bool excluded)
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        KeyValuePair<string, long>[] pairs = [new("a0", 1), new("a1", 1)];
        var id = PooledOperationTests.Unknown(world, map.MergeAsync(pairs, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        Acknowledge(world, map, "b0");
        world.Settle();
        using var source = new CancellationTokenSource();
        var asker = world.Members[1];
        var at = asker.Dht.Map<string, long>("longs");
        // A retry that is cancelled has no time limit, which could end it too.
        var retry = at.MergeAsync(pairs, new() { Operation = id, Timeout = cancelled ? null : TimeSpan.FromSeconds(1) }, source.Token).AsTask();
        world.Poke();
        for (int i = 0; i < 100 && !IsKnown(); i++)
            foreach (var (from, to) in world.Busy())
                if (!IsKnown()) world.Deliver(from, to);
        Assert.True(IsKnown());
        world.Members[0].Stall(TimeSpan.FromSeconds(5));
        if (cancelled)
        {
            await source.CancelAsync();
            world.Poke();
            Assert.True(retry.IsCompleted, "The call was cancelled and has not ended.");
        }
        world.RunUntil(() => retry.IsCompleted, "The retry that is cut short");
        Assert.Equal(id, PooledOperationTests.Unknown(world, retry));
        Assert.IsType(cancelled ? typeof(OperationCanceledException) : typeof(OperationNotExecutedException), retry.Exception!.InnerException!.InnerException);

        retry = at.MergeAsync(pairs, new() { Operation = id }).AsTask();
        world.Poke();
        Assert.False(retry.IsCompleted);
        if (excluded)
        {
            world.Crash(world.Members[0]);
            world.ChangeView(world.Members[0]);
        }
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal(excluded ? 0 : 2, (await retry).Versions.Count);
        world.Settle();
        Assert.All(world.Members, m => Assert.False(m.InView && m.Host.Current!.Coordinator.HasWork));
        await AssertStoredAsync(world, at, "a0", "a1");

        // A shard has said that the put was executed.
        bool IsKnown() => asker.Host.Current!.Coordinator.Standing().Any(static one => one.Op.Executed);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task F22_what_nobody_remembers_has_an_error_of_its_own(int retriedAt)
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        OperationId told = default;
        for (int i = 0; i < 2; i++)
        {
            var put = map.MergePairAsync("a0", 1L).AsTask();
            world.RunUntil(() => put.IsCompleted, "A put");
            if (i == 0) told = (await put).Operation;
        }
        var retry = world.Members[retriedAt].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = told }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal(told, Assert.IsType<OutcomeForgottenException>(retry.Exception!.InnerException).Operation);
    }

    [Fact]
    public async Task A_retry_learns_the_outcome_from_a_member_that_is_farther_away_than_it_waits_to_ask_again()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        // Replicas may forget it.
        Acknowledge(world, map, "b1");
        world.Settle();
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        for (int i = 0; i < 40 && !retry.IsCompleted; i++)
        {
            var sent = world.Busy().ConvertAll(pair => (Pair: pair, Count: world.Waiting(pair.From, pair.To)));
            world.Advance(TimeSpan.FromMilliseconds(60));
            foreach (var (pair, count) in sent)
                for (int frame = 0; frame < count; frame++) world.Deliver(pair.From, pair.To);
        }
        Assert.True(retry.IsCompleted);
        Assert.Single((await retry).Versions);
    }

    [Fact]
    public async Task F22_a_put_that_goes_on_is_told_to_a_retry_at_another_member_when_its_own_member_has_gone()
    {
        var world = Founded(6);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        world.Crash(world.Members[0]);
        world.ChangeView();
        var retry = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
        await AssertStoredAsync(world, world.Members[1].Dht.Map<string, long>("longs"), "a1");
    }

    [Fact]
    public async Task F22_a_put_that_was_refused_after_its_caller_gave_up_goes_on()
    {
        var world = Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxQueuePerKey = 1 } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var first = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L).AsTask();
        world.Poke();
        world.Deliver(2, 1);
        using var cancellation = new CancellationTokenSource();
        var refused = map.MergePairAsync("a1", 1L, cancellationToken: cancellation.Token).AsTask();
        world.Poke();
        // Member 1 refuses the put and member 3 does not. The caller gives up before member 3 has heard that the attempt is off.
        world.DeliverAll((from, to) => (from, to) is (0, 1) or (0, 3));
        world.DeliverAll((from, to) => (from, to) is (1, 0) or (3, 0));
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(refused.Exception!.InnerException).Operation;
        world.RunUntil(() => first.IsCompleted, "The first put");
        world.Settle();
        Acknowledge(world, map, "b1");
        foreach (int member in new[] { 0, 1 })
        {
            var retry = world.Members[member].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
            world.RunUntil(() => retry.IsCompleted, "The retry");
            Assert.Single((await retry).Versions);
        }
        Assert.IsType<OverloadedException>(first.Exception!.InnerException);
        await AssertStoredAsync(world, map, "a1");
    }

    [Fact]
    public void F22_what_an_acknowledgement_overtakes_is_applied_at_every_replica()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        // An id that its member has not given yet.
        var id = new OperationId(world.Members[0].Host.Current!.State.Session, 1);
        var early = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("b0", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => to == 1);
        world.DeliverAll((from, to) => (from, to) is (1, 0));
        Assert.True(early.IsCompletedSuccessfully);
        var own = map.MergePairAsync("c0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from != 1 && to != 1);
        Assert.IsType<OperationIdReusedException>(own.Exception!.InnerException);
        // Member 2 hears that the id is done with before it hears that the first put under the id is committed.
        var next = map.MergePairAsync("d0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 2));
        world.RunUntil(() => next.IsCompleted, "The next put");
        world.Settle();
        Assert.Null(DhtWorld.Difference(world.Members[0], world.Members[2]));
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);
    }

    [Fact]
    public async Task F22_a_put_that_goes_on_outlasts_another_one_that_waits_under_its_id()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var other = world.Members[1].Dht.Map<string, long>("longs");
        var id = await CancelledAsync(world, map, "a1");
        // Each of the two puts is held by one replica and refused by the other.
        var impostor = other.MergePairAsync("a1", 5L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 3));
        world.DeliverAll((from, to) => (from, to) is (1, 3));
        world.DeliverAll((from, to) => (from, to) is (0, 1));
        world.RunUntil(() => impostor.IsCompleted, "The other put");
        Assert.IsType<OperationIdReusedException>(impostor.Exception!.InnerException);
        world.Settle();
        // Replicas may forget what has ended.
        Acknowledge(world, map, "b1");
        foreach (int member in new[] { 0, 2 })
        {
            var retry = world.Members[member].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
            world.RunUntil(() => retry.IsCompleted, "A retry");
            Assert.Single((await retry).Versions);
        }
        await AssertStoredAsync(world, map, "a1");
    }

    /// <summary>The other put was not given the id. A retry that meets it at a replica cannot know which of the two is the put of the id, nor how that put ends.</summary>
    [Fact]
    public async Task A_retry_that_meets_one_with_other_pairs_is_not_told_that_its_id_is_another_put()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = await CancelledAsync(world, map, "a1");
        var impostor = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a1", 5L, new() { Operation = id }).AsTask();
        world.Poke();
        // Each of the two puts is held by one replica; the retry comes through the replica that holds the put of the id.
        world.DeliverAll((from, to) => (from, to) is (0, 1) or (2, 3));
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (1, 3) or (3, 1));
        Assert.Equal(id, Assert.IsType<OutcomeUnknownException>(retry.Exception?.InnerException).Operation);
        // That put goes on and is executed; the caller that borrowed its id is told so.
        world.RunUntil(() => impostor.IsCompleted, "The other put");
        Assert.IsType<OperationIdReusedException>(impostor.Exception!.InnerException);
        world.RunUntil(() => !world.Members[0].Host.Current!.Coordinator.HasWork, "The end of the put");
        await AssertStoredAsync(world, map, "a1");
        retry = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task F22_a_put_that_went_on_and_lost_its_id_to_another_one_is_told_so(int retriedAt)
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = await CancelledAsync(world, map, "a1");
        var impostor = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a1", 5L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from is 1 or 3 && to is 1 or 3);
        Assert.Single((await impostor).Versions);
        world.Settle();
        // Replicas may forget it.
        Acknowledge(world, map, "b1");
        var retry = world.Members[retriedAt].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.IsType<OperationIdReusedException>(retry.Exception!.InnerException);
    }

    [Fact]
    public async Task F22_an_attempt_that_only_repeats_is_not_proposed_anew_when_another_member_issues_it_too()
    {
        var world = Founded(4);
        var id = new OperationId(world.Members[0].Host.Current!.State.Session, 1);
        Task<PutResult> Put(int member, OperationId? operation) => world.Members[member].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = operation }).AsTask();
        var first = Put(0, null);
        world.RunUntil(() => first.IsCompleted, "The put");
        // An attempt of member 1 repeats the put while its record still stands. Member 0 then drops both records, and member 2 does not know yet that it may.
        var second = Put(1, id);
        world.Poke();
        world.DeliverAll();
        Assert.True(second.IsCompletedSuccessfully);
        for (int i = 0; i < 4; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(5));
            world.DeliverAll((from, to) => to == 1 || (from, to) is (1 or 2, 0));
        }
        Assert.Equal((0, 2), (world.Members[0].Host.Current!.Participant.Records.Count, world.Members[2].Host.Current!.Participant.Records.Count));
        world.Now += 50_000_000;
        // Member 3 issues the same attempt.
        var third = Put(3, id);
        world.Poke();
        world.DeliverAll((from, to) => from == 3);
        world.RunUntil(() => third.IsCompleted, "The retry", steps: 200);
        Assert.Equal((await first).Versions, (await third).Versions);
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);
    }

    [Fact]
    public async Task F22_a_put_that_is_stuck_lets_no_endless_number_of_others_pass()
    {
        var world = Founded(4);
        var layer = world.Members[0].Host.Current!;
        layer.Coordinator.Puts.Window = 10;
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var stuck = map.MergePairAsync("a1", 1L).AsTask();
        world.Poke();
        var others = new List<Task<PutResult>>();
        for (int i = 0; i < 30; i++)
        {
            others.Add(map.MergePairAsync("a0", 1L).AsTask());
            world.Poke();
            world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
        }
        Assert.InRange(others.Count(o => o.IsCompleted), 8, 10);
        world.RunUntil(() => stuck.IsCompleted && others.TrueForAll(o => o.IsCompleted), "All");
        await Task.WhenAll(others);
        Assert.Single((await stuck).Versions);
    }

    [Fact]
    public async Task A_put_that_is_stuck_stops_no_reads_and_reads_count_for_no_window()
    {
        var world = Founded(4);
        world.Members[0].Host.Current!.Coordinator.Puts.Window = 10;
        var map = world.Members[0].Dht.Map<string, long>("longs");
        void Deliver()
        {
            world.Poke();
            world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
        }
        var stuck = map.MergePairAsync("a1", 1L).AsTask();
        for (int i = 0; i < 30; i++)
        {
            var read = map.GetAsync(["a0", "b0"]).AsTask();
            Deliver();
            Assert.True(read.IsCompletedSuccessfully);
        }
        var puts = new List<Task<PutResult>>();
        for (int i = 0; i < 30; i++)
        {
            puts.Add(map.MergePairAsync("a0", 1L).AsTask());
            Deliver();
        }
        Assert.InRange(puts.Count(put => put.IsCompleted), 8, 10);
        var one = map.GetAsync("a0").AsTask();
        var two = map.GetAsync(["a0", "b0"]).AsTask();
        Deliver();
        Assert.True(one.IsCompletedSuccessfully && two.IsCompletedSuccessfully);
        world.RunUntil(() => stuck.IsCompleted && puts.TrueForAll(put => put.IsCompleted), "All");
        await Task.WhenAll(puts);
    }

    /// <summary>Reads fill all places: reads that wait for a place pass the puts that wait for the window.</summary>
    [Fact]
    public async Task Reads_that_wait_for_a_place_do_not_wait_for_a_put_that_is_stuck()
    {
        var world = Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 8 } });
        world.Members[0].Host.Current!.Coordinator.Puts.Window = 4;
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var stuck = map.MergePairAsync("a1", 1L).AsTask();
        var puts = Enumerable.Range(0, 20).Select(_ => map.MergePairAsync("a0", 1L).AsTask()).ToList();
        // A put of another member holds up the reads.
        var other = world.Members[3].Dht.Map<string, long>("longs").MergePairAsync("b0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (3, 0));
        var reads = Enumerable.Range(0, 20).Select(_ => map.GetAsync("b0").AsTask()).ToList();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is not (0, 1));
        Assert.True(other.IsCompletedSuccessfully);
        Assert.All(reads, read => Assert.True(read.IsCompletedSuccessfully));
        Assert.InRange(puts.Count(put => put.IsCompleted), 2, 4);
        world.RunUntil(() => stuck.IsCompleted && puts.TrueForAll(put => put.IsCompleted), "All");
        await Task.WhenAll(puts);
    }

    /// <summary>Thousands of puts wait for the window, and each read that ends looks for the operation whose turn it is.</summary>
    [Fact]
    public async Task R_reads_that_pass_many_puts_that_wait_do_not_walk_past_them()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 256 } });
        var coordinator = world.Members[0].Host.Current!.Coordinator;
        coordinator.Puts.Window = 4;
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var stuck = map.MergePairAsync("a1", 1L).AsTask();
        var puts = Enumerable.Range(0, 3_000).Select(_ => map.MergePairAsync("a0", 1L).AsTask()).ToList();
        // A put of another member holds up the reads.
        var other = world.Members[3].Dht.Map<string, long>("longs").MergePairAsync("b0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (3, 0));
        var reads = Enumerable.Range(0, 600).Select(_ => map.GetAsync("b0").AsTask()).ToList();
        long before = coordinator.Looks;
        for (int i = 0; i < 10; i++) world.Poke();
        world.DeliverAll((from, to) => (from, to) is not (0, 1));
        Assert.All(reads, read => Assert.True(read.IsCompletedSuccessfully));
        Assert.InRange(puts.Count(put => put.IsCompleted), 2, 4);
        Assert.InRange(coordinator.Looks - before, 600, 20_000);
        world.RunUntil(() => stuck.IsCompleted && other.IsCompleted && puts.TrueForAll(put => put.IsCompleted), "All");
        await Task.WhenAll(puts);
    }

    [Fact]
    public async Task A_read_that_is_stuck_stops_no_puts()
    {
        var world = Founded(4);
        world.Members[0].Host.Current!.Coordinator.Puts.Window = 10;
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var stuck = map.GetAsync("a1").AsTask();
        for (int i = 0; i < 30; i++)
        {
            var put = map.MergePairAsync("a0", 1L).AsTask();
            world.Poke();
            world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
            Assert.True(put.IsCompletedSuccessfully);
        }
        Assert.False(stuck.IsCompleted);
        world.RunUntil(() => stuck.IsCompleted, "The read");
        Assert.False((await stuck).Found);
    }

    /// <summary>A replica that has refused too many puts to remember them one by one refuses the first attempts of all puts that are as old.</summary>
    [Fact]
    public async Task A_put_that_is_refused_with_many_others_goes_on_in_the_same_view()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        var session = world.Members[1].Host.Current!.Participant.Sessions.Find(id.Session)!;
        for (uint i = 1; i <= 5000; i++) session.Reject(new(new(id.Session, id.Sequence + i), 1));
        Assert.True(session.IsRejected(new(id, 1)));
        ulong view = world.View!.Id;
        world.RunUntil(() => !world.Members[0].Host.Current!.Coordinator.HasWork, "The end of the put");
        var retry = map.MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
        var read = map.GetAsync("a1").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(view, world.View.Id);
        Assert.Equal(1L, (await read).Value);
    }

    /// <summary>Attempts that are refused for another put's sake are passed over in a few steps, and not one by one.</summary>
    [Fact]
    public async Task R_a_put_that_is_refused_up_to_a_high_attempt_of_another_one_sends_few()
    {
        var world = Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        var session = world.Members[1].Host.Current!.Participant.Sessions.Find(id.Session)!;
        for (uint i = 1; i <= 5000; i++) session.Reject(new(new(id.Session, id.Sequence + i), 3000));
        Assert.True(session.IsRejected(new(id, 3000)));
        int sent = 0;
        world.Swallows = (_, _, type) =>
        {
            sent += type == DhtFrame.Propose ? 1 : 0;
            return false;
        };
        world.RunUntil(() => !world.Members[0].Host.Current!.Coordinator.HasWork, "The end of the put");
        Assert.InRange(sent, 2, 60);
        var retry = map.MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
    }

    [Fact]
    public void R_the_end_of_a_put_that_was_executed_replaces_what_was_known_before()
    {
        var known = new KnownEnds(100, 20_000);
        known.Add(new(1, 1), new(7, EndStatus.Misplaced, default, null));
        known.Add(new(1, 1), new(7, EndStatus.Executed, new(new ulong[100]), null));
        known.Add(new(1, 1), new(7, EndStatus.Misplaced, default, null));
        Assert.True(known.TryGet(new(1, 1), out var end));
        Assert.Equal((EndStatus.Executed, 1, end.Bytes), (end.Status, known.Count, known.Bytes));
        known.Add(new(1, 2), new(7, EndStatus.Misplaced, default, null));
        known.Add(new(1, 2), new(7, EndStatus.Executed, new(new ulong[9000]), null));
        Assert.Equal((0, 0L), (known.Count, known.Bytes));
    }

    [Fact]
    public void F22_what_is_remembered_is_bounded_in_count_and_bytes()
    {
        var known = new KnownEnds(100, 20_000);
        for (ulong i = 0; i < 1000; i++) known.Add(new(1, i), new(i, EndStatus.Executed, default, null));
        Assert.Equal(100, known.Count);
        Assert.False(known.TryGet(new(1, 899), out _));
        Assert.True(known.TryGet(new(1, 900), out var end));
        Assert.Equal(900UL, end.Payload);
        known.Add(new(1, 5000), new(1, EndStatus.Executed, new(new ulong[2300]), null));
        Assert.InRange(known.Bytes, 18_400, 20_000);
        Assert.True(known.TryGet(new(1, 5000), out _));
        Assert.InRange(known.Count, 2, 8);
        known.Add(new(1, 5001), new(1, EndStatus.Executed, new(new ulong[9000]), null));
        Assert.Equal((0, 0L), (known.Count, known.Bytes));
    }

    /// <summary>A put whose caller gives up once it is on its way.</summary>
    private static async Task<OperationId> CancelledAsync(DhtWorld world, DhtMap<string, long> map, string key)
    {
        using var cancelled = new CancellationTokenSource();
        var put = map.MergeAsync(key, 1L, cancellationToken: cancelled.Token).AsTask();
        world.Poke();
        await cancelled.CancelAsync();
        world.Poke();
        return Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException).Operation;
    }

    /// <summary>A later put of the same member, after which replicas may forget what has ended.</summary>
    private static void Acknowledge(DhtWorld world, DhtMap<string, long> map, params string[] keys)
    {
        var put = map.MergeAsync(keys.Select(key => KeyValuePair.Create(key, 1L))).AsTask();
        world.RunUntil(() => put.IsCompleted, "A put that acknowledges");
    }

    private static async Task AssertStoredAsync(DhtWorld world, DhtMap<string, long> map, params string[] keys)
    {
        var read = map.GetAsync(keys).AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(keys.Select(_ => 1L), (await read).Values);
    }

    /// <summary>Here retries through other members do not wait for the member that issued the put, so they cross its attempts in every way.</summary>
    private static DhtWorld Founded(int members, DhtOptions? options = null)
    {
        var world = DhtWorld.Founded(members, options: options);
        world.GivenFrom = 0;
        return world;
    }
}
