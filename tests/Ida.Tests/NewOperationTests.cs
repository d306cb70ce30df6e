using Ida.Shared;

namespace Ida.Tests;

/// <summary>Ids that are taken before the put. It can be called again and again under its id: it is applied once, and each call is told how it ended.</summary>
public sealed class NewOperationTests
{
    [Theory]
    [InlineData("put")]
    [InlineData("batch")]
    [InlineData("merge")]
    [InlineData("add")]
    [InlineData("remove")]
    public async Task A_call_under_an_id_is_told_the_same_whenever_and_wherever_it_is_repeated(string call)
    {
        var world = DhtWorld.Founded(4);
        var issuer = world.Members[0];
        await world.EndAsync(issuer.Dht.Map<string, string>("texts").PutAsync("c0", "there"));
        var id = issuer.Dht.NewOperation();
        string first = await CallAsync(issuer);
        foreach (var member in world.Members) Assert.Equal(first, await CallAsync(member));
        // After many later puts, and after a view change.
        for (int i = 0; i < 20; i++) await world.EndAsync(issuer.Dht.Map<string, long>("longs").PutAsync([new("z0", i), new("z1", i)]));
        world.ChangeView();
        foreach (var member in world.Members) Assert.Equal(first, await CallAsync(member));
        Assert.Equal(1, (await world.EndAsync(issuer.Dht.Map<string, long>("longs").GetAsync("a0"))).ValueOr(1));
        world.AssertIdle();
        world.AssertEqualReplicas();

        async Task<string> CallAsync(HarnessMember member)
        {
            var (dht, options) = (member.Dht, new PutOptions { Operation = id });
            var (longs, texts) = (dht.Map<string, long>("longs"), dht.Map<string, string>("texts"));
            switch (call)
            {
                case "put": return Text(await world.EndAsync(longs.PutAsync([new("a0", 1), new("a1", 1)], options)));
                case "batch": return Text(await world.EndAsync(dht.NewBatch(options).Merge(longs, "a0", 1L).Put(texts, "a1", "one").CommitAsync()));
                case "merge": return $"{await world.EndAsync(longs.MergeAsync("a0", 1L, options))}";
                case "add": return $"{await world.EndAsync(longs.TryAddAsync("a0", 1L, options))}";
                default: return $"{await world.EndAsync(texts.RemoveAsync("c0", options))}";
            }
        }

        static string Text(PutResult result) => $"{result.Operation} {result.IsApplied} {string.Join(' ', result.Versions)}";
    }

    /// <summary>The successor of the process has nothing but the id, which was written down.</summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task The_put_of_a_process_that_has_ended_is_found_out_by_its_id(bool called, bool others)
    {
        var world = DhtWorld.Founded(4);
        var issuer = world.Members[0];
        var map = issuer.Dht.Map<string, long>("longs");
        var id = issuer.Dht.NewOperation();
        PutResult? told = called ? await world.EndAsync(map.MergePairAsync("a1", 1L, new() { Operation = id })) : null;
        // These puts acknowledge all that need not be remembered.
        for (int i = 0; i < 5 && others; i++) await world.EndAsync(map.PutAsync([new("z0", i), new("z1", i)]));
        world.Crash(issuer, loseAll: true);
        world.ChangeView();
        world.Settle();
        for (int i = 1; i < 4; i++)
        {
            var again = await world.EndAsync(world.Members[i].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }));
            told ??= again;
            Assert.Equal(told.Value.Versions, again.Versions);
        }
        Assert.Equal(1L, (await world.EndAsync(world.Members[2].Dht.Map<string, long>("longs").GetAsync("a1"))).Value);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    [Fact]
    public async Task A_call_that_is_given_up_may_be_repeated_under_its_id()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var (map, id) = (dht.Map<string, long>("longs"), dht.NewOperation());
        Assert.Equal(id, PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Operation = id, Timeout = TimeSpan.FromMilliseconds(5) }).AsTask()));
        Assert.Single((await world.EndAsync(map.MergePairAsync("a1", 1L, new() { Operation = id }))).Versions);
        Assert.Equal(1L, (await world.EndAsync(map.GetAsync("a1"))).Value);
        Assert.NotEqual(dht.NewOperation(), dht.NewOperation());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_id_is_for_one_put(int through)
    {
        var world = DhtWorld.Founded(4);
        var id = world.Members[0].Dht.NewOperation();
        await world.EndAsync(world.Members[0].Dht.Map<string, long>("longs").PutAsync("a0", 1L, new() { Operation = id }));
        var error = await Assert.ThrowsAsync<OperationIdReusedException>(() => world.EndAsync(world.Members[through].Dht.Map<string, long>("longs").PutAsync("a0", 2L, new() { Operation = id })));
        Assert.Equal(id, error.Operation);
        Assert.Equal(1L, (await world.EndAsync(world.Members[2].Dht.Map<string, long>("longs").GetAsync("a0"))).Value);
        Assert.Throws<ArgumentException>(() => { _ = world.Members[0].Dht.Map<string, long>("longs").PutAsync("a0", 2L, new() { Operation = default(OperationId) }).AsTask(); });
    }

    /// <summary>As after a restart of everything: no member knows the session of the id.</summary>
    [Fact]
    public async Task With_an_id_of_another_DHT_nothing_is_executed()
    {
        var id = DhtWorld.Founded(4, seed: 2).Members[0].Dht.NewOperation();
        var world = DhtWorld.Founded(4);
        foreach (var member in world.Members)
        {
            var error = await Assert.ThrowsAsync<OutcomeForgottenException>(() => world.EndAsync(member.Dht.Map<string, long>("longs").PutAsync("a0", 1L, new() { Operation = id })));
            Assert.Equal(id, error.Operation);
        }
        Assert.False((await world.EndAsync(world.Members[0].Dht.Map<string, long>("longs").GetAsync("a0"))).Found);
    }

    /// <summary>Whether the put was called or not, a call that comes so late is not executed, and is told that nobody remembers.</summary>
    [Theory]
    [InlineData(0, false)]
    [InlineData(0, true)]
    [InlineData(2, false)]
    [InlineData(2, true)]
    public async Task An_id_is_forgotten_after_so_many_more_puts(int through, bool called)
    {
        const int Kept = 10;
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var map = dht.Map<string, long>("longs");
        world.Members[0].Host.Current!.Coordinator.Puts.Numbers.Kept = Kept;
        var id = dht.NewOperation();
        if (called) await CallAsync(0);
        for (int i = 0; i < Kept - 1; i++) await world.EndAsync(map.PutAsync("z0", i));
        if (called) await CallAsync(through);
        for (int i = 0; i < 3; i++) await world.EndAsync(map.PutAsync("z0", i));
        // After this no record is left that could still remember the put.
        world.Settle();
        await Assert.ThrowsAsync<OutcomeForgottenException>(() => CallAsync(through));
        var found = await world.EndAsync(map.GetAsync("a0"));
        Assert.Equal((called, 1L), (found.Found, found.ValueOr(1L)));
        world.Settle();
        Assert.All(world.Initialised(0), one => Assert.InRange(one.Host.Current!.Participant.Sessions.Find(id.Session)!.OutcomeCount, 0, Kept + 1));

        Task<PutResult> CallAsync(int member) => world.EndAsync(world.Members[member].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }));
    }

    /// <summary>Replicas have room for few outcomes, and all of these are of puts that came after an id which nobody uses.</summary>
    [Fact]
    public async Task An_id_that_is_not_used_keeps_no_put_from_being_executed()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxOutcomeBytes = 4_096 } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = world.Members[0].Dht.NewOperation();
        for (int i = 0; i < 300; i++) await world.EndAsync(map.PutAsync("z1", i));
        await Assert.ThrowsAsync<OutcomeForgottenException>(() => world.EndAsync(map.PutAsync("a1", 1L, new() { Operation = id })));
        world.Settle();
        Assert.All(world.Initialised(1), static one => Assert.InRange(one.Host.Current!.Participant.Sessions.OutcomeBytes, 0, 8_192));
    }

    /// <summary>All puts are refused at once, and the first that is told so makes room for all.</summary>
    [Fact]
    public async Task R_an_id_that_is_not_used_keeps_none_of_many_puts_on_the_way_from_being_executed()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxOutcomeBytes = 4_096 } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        for (int round = 0; round < 10; round++)
        {
            world.Members[0].Dht.NewOperation();
            var calls = Enumerable.Range(0, 60).Select(key => map.PutAsync($"{key}:1", round).AsTask()).ToList();
            world.RunUntil(() => calls.TrueForAll(static call => call.IsCompleted), "The calls");
            foreach (var call in calls) await call;
        }
    }

    /// <summary>While the put under the id waits, puts that began after the id was taken get a place, and numbers above it.</summary>
    [Fact]
    public void An_id_whose_put_waits_for_a_place_is_kept_when_ids_are_let_go()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 2 } });
        var (dht, coordinator) = (world.Members[0].Dht, world.Members[0].Host.Current!.Coordinator);
        var map = dht.Map<string, long>("longs");
        var calls = Enumerable.Range(0, 8).Select(i => map.PutAsync($"{i}:1", i).AsTask()).ToList();
        var named = map.PutAsync("a1", 1L, new() { Operation = dht.NewOperation() }).AsTask();
        world.Poke();
        Assert.True(coordinator.Puts.Numbers.Release());
        world.RunUntil(() => named.IsCompleted && calls.TrueForAll(static call => call.IsCompleted), "The calls");
        Assert.True(named.IsCompletedSuccessfully, $"{named.Exception?.InnerException}");
    }

    /// <summary>Participants have no room and would only take the oldest put. That one waits for the place of another, whose caller has gone and which is refused without end.</summary>
    [Fact]
    public async Task A_put_that_waits_under_the_oldest_id_gets_a_place_where_no_other_put_can_end()
    {
        const long Most = 4_096;
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxOutcomeBytes = Most, MaxInFlight = 1 } });
        var (dht, session) = (world.Members[0].Dht, world.Members[0].Host.Current!.State.Session);
        var map = dht.Map<string, long>("longs");
        var id = dht.NewOperation();
        while (!world.Initialised(1).Exists(member => member.Host.Current!.Participant.Sessions.Find(session)!.IsFull(Most))) await world.EndAsync(map.PutAsync("z1", 1L));
        using var gone = new CancellationTokenSource();
        var stuck = map.PutAsync("z1", 2L, cancellationToken: gone.Token).AsTask();
        var named = map.PutAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        await gone.CancelAsync();
        world.RunUntil(() => stuck.IsCompleted && named.IsCompleted, "The calls");
        await Assert.ThrowsAsync<OutcomeUnknownException>(() => stuck);
        await named;
        world.Settle();
        Assert.Equal(2L, (await world.EndAsync(map.GetAsync("z1"))).Value);
    }

    /// <summary>The first attempt is refused because a takeover had it rejected, the second for want of room. Then ids are let go, and the put is tried once more.</summary>
    [Fact]
    public async Task An_id_that_is_not_used_keeps_no_put_from_being_executed_that_was_refused_before()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxOutcomeBytes = 4_096 } });
        var (dht, layer) = (world.Members[0].Dht, world.Members[0].Host.Current!);
        dht.NewOperation();
        for (int i = 0; i < 300; i++)
        {
            var first = new AttemptId(new(layer.State.Session, layer.Coordinator.Puts.Numbers.Last + 2), 1);
            foreach (var member in world.Initialised(1))
            {
                var sessions = member.Host.Current!.Participant.Sessions;
                Assert.True(sessions.TryRefuse(sessions.Find(layer.State.Session)!, first, issued: false));
            }
            await world.EndAsync(dht.Map<string, long>("longs").PutAsync("z1", i));
        }
        Assert.InRange(layer.Coordinator.Puts.Numbers.Releases, 1, 300);
    }

    /// <summary>Replicas had no room, so the ids taken before are let go, whether their puts had come or not, and whatever came in between.</summary>
    [Fact]
    public async Task Only_ids_that_are_taken_after_others_were_let_go_are_kept()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var (first, second, third) = (dht.NewOperation(), dht.NewOperation(), dht.NewOperation());
        await CallAsync(0, third);
        await CallAsync(0, first);
        Assert.True(world.Members[0].Host.Current!.Coordinator.Puts.Numbers.Release());
        var (early, late) = (dht.NewOperation(), dht.NewOperation());
        var told = await CallAsync(0, late);
        for (int i = 0; i < 20; i++) await world.EndAsync(dht.Map<string, long>("longs").PutAsync([new("z0", i), new("z1", i)]));
        world.Settle();
        foreach (int through in (int[])[0, 2])
        {
            foreach (var gone in (OperationId[])[first, second, third]) await Assert.ThrowsAsync<OutcomeForgottenException>(() => CallAsync(through, gone));
            Assert.Equal(told.Versions, (await CallAsync(through, late)).Versions);
        }
        Assert.Single((await CallAsync(2, early)).Versions);
        Assert.Equal(4L, (await world.EndAsync(dht.Map<string, long>("longs").GetAsync("a0"))).Value);

        Task<PutResult> CallAsync(int member, OperationId id) => world.EndAsync(world.Members[member].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }));
    }

    /// <summary>Each shard has one member. So many puts have begun since the ids were taken that only the open calls keep the ids.</summary>
    [Fact]
    public void Nothing_from_the_oldest_open_put_under_an_id_on_is_acknowledged()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 1, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var (issuer, layer) = (world.Members[0].Dht, world.Members[0].Host.Current!);
        var map = issuer.Map<string, long>("longs");
        int own = layer.State.Shard;
        int[] others = [.. Enumerable.Range(0, 4).Where(shard => shard != own)];
        var calls = new Task[others.Length];
        OperationId[] ids = [.. others.Select(_ => issuer.NewOperation())];
        layer.Coordinator.Puts.Numbers.Kept = 1;
        // Called in another order than the ids were taken in, and ended in a third one.
        foreach (int i in (int[])[2, 0, 1]) calls[i] = map.MergePairAsync($"a{others[i]}", 1L, new() { Operation = ids[i] }).AsTask();
        world.Poke();
        Assert.Equal(ids[0].Sequence, Acknowledged());
        End(1);
        Assert.Equal(ids[0].Sequence, Acknowledged());
        End(0);
        Assert.Equal(ids[2].Sequence, Acknowledged());
        End(2);
        Assert.InRange(Acknowledged(), ids[2].Sequence + 1, issuer.NewOperation().Sequence);

        void End(int i)
        {
            Assert.False(calls[i].IsCompleted);
            int member = world.Initialised(others[i])[0].Index;
            world.DeliverAll((from, to) => (from, to) == (0, member) || (from, to) == (member, 0));
            Assert.True(calls[i].IsCompletedSuccessfully);
        }

        // As this member's own shard knows it, which hears of it with each put there.
        ulong Acknowledged()
        {
            for (int i = 0; i < 5; i++)
            {
                var put = map.PutAsync($"z{own}", i).AsTask();
                world.Poke();
                Assert.True(put.IsCompletedSuccessfully);
            }
            return layer.Participant.Sessions.Find(layer.State.Session)!.AckedBelow;
        }
    }

    /// <summary>A key that has no room has nothing to do with outcomes.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_call_that_is_refused_for_its_key_forgets_no_id(bool put)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxQueuePerKey = 2 } });
        var dht = world.Members[0].Dht;
        dht.NewOperation();
        var map = dht.Map<string, long>("longs");
        var calls = Enumerable.Range(0, 200).Select(i => put ? map.PutAsync("a1", i).AsTask() : (Task)map.GetAsync(["a1", "b2"]).AsTask()).ToList();
        world.RunUntil(() => calls.TrueForAll(static call => call.IsCompleted), "The calls");
        Assert.Contains(calls, static call => call.Exception?.InnerException is OverloadedException);
        Assert.Equal(0, world.Members[0].Host.Current!.Coordinator.Puts.Numbers.Releases);
    }

    /// <summary>More calls than may be on the way wait at a key, for a reason of their own. They are told so, whatever ids are taken meanwhile.</summary>
    [Fact]
    public void Too_many_calls_are_told_so_beside_ids_that_are_taken()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxQueuePerKey = 2 } });
        var dht = world.Members[0].Dht;
        var calls = new List<Task>();
        for (int i = 0; i < 200; i++)
        {
            dht.NewOperation();
            calls.Add(dht.Map<string, long>("longs").PutAsync("a1", i).AsTask());
        }
        world.RunUntil(() => calls.TrueForAll(static call => call.IsCompleted), "The calls");
        Assert.Contains(calls, static call => call.Exception?.InnerException is OverloadedException);
        Assert.All(calls, static call => Assert.True(call.IsCompletedSuccessfully || call.Exception!.InnerException is OverloadedException));
    }
}
