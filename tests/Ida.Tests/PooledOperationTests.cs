using Ida.Coordination;

namespace Ida.Tests;

/// <summary>An operation is pooled: it belongs to one call at a time and ends once, and no call writes into another's.</summary>
public sealed class PooledOperationTests
{
    [Fact]
    public async Task F20_a_cancelled_retry_of_a_pending_put_ends_once()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var id = Unknown(world, map.PutAsync("a1", 1, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        using var cancellation = new CancellationTokenSource();
        var retry = map.PutAsync("a1", 1, new() { Operation = id }, cancellation.Token).AsTask();
        world.Poke();
        Assert.False(retry.IsCompleted);
        await cancellation.CancelAsync();
        world.Poke();
        Assert.Equal(id, Assert.IsType<OutcomeUnknownException>(retry.Exception!.InnerException).Operation);
        // The retry's operation is free and serves the next put while the first one ends.
        var next = map.PutAsync("b1", 2).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 1) or (1, 0));
        Assert.False(next.IsCompleted, "A put returned before it was executed.");
        world.RunUntil(() => next.IsCompleted, "The next put");
        Assert.Single((await next).Versions);
        for (int i = 0; i < 3; i++)
        {
            var put = map.PutAsync("c1", i).AsTask();
            world.RunUntil(() => put.IsCompleted, "A later put");
            await put;
        }
        world.Settle();
    }

    [Fact]
    public async Task R_an_operation_of_many_keys_keeps_no_room_for_them_in_the_pool()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var put = dht.Map<string, int>("ints").PutAsync(Enumerable.Range(0, 4_096).Select(static i => KeyValuePair.Create($"k{i}_0", i))).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        await put;
        world.Settle();
        Assert.Single(dht.Puts.Free);
        Assert.All(dht.Puts.Free, static op => Assert.InRange(op.Parts.Length, 1, 16));
    }

    [Fact]
    public async Task F26_a_batch_that_was_committed_takes_no_more()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var batch = world.Members[0].Dht.NewBatch().Put(map, "a0", 1);
        var commit = batch.CommitAsync().AsTask();
        world.RunUntil(() => commit.IsCompleted, "The batch");
        await commit;
        // This batch is built in the same pooled operation.
        var other = world.Members[0].Dht.NewBatch().Put(map, "b0", 2);
        Assert.Throws<InvalidOperationException>(() => batch.Put(map, "x0", 7));
        Assert.Throws<InvalidOperationException>(() => batch.Remove(map, "x0"));
        Assert.Throws<InvalidOperationException>(() => batch.Merge(world.Members[0].Dht.Map<string, long>("longs"), "x0", 7L));
        Assert.Throws<InvalidOperationException>(() => { _ = batch.CommitAsync().AsTask(); });
        var second = other.CommitAsync().AsTask();
        world.RunUntil(() => second.IsCompleted, "The other batch");
        Assert.Single((await second).Versions);
        var get = map.GetAsync("x0").AsTask();
        world.RunUntil(() => get.IsCompleted, "The read");
        Assert.False((await get).Found);
    }

    [Fact]
    public async Task F26_a_reading_that_ran_takes_no_more()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var reading = world.Members[0].Dht.NewReading();
        var cell = reading.Add(map, "a1");
        var run = reading.RunAsync().AsTask();
        Assert.Throws<InvalidOperationException>(() => reading.Add(map, "b1"));
        world.RunUntil(() => run.IsCompleted, "The reading");
        await run;
        Assert.Throws<InvalidOperationException>(() => reading.Add(map, "b1"));
        Assert.Throws<InvalidOperationException>(() => { _ = reading.RunAsync().AsTask(); });
        Assert.False(cell.Entry.Found);
    }

#pragma warning disable CA2012, xUnit1031 // The misuse is what is tested.
    [Fact]
    public async Task F26_a_result_that_is_taken_twice_or_too_early_harms_no_other_call()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var early = map.PutAsync("a1", 1);
        Assert.Throws<InvalidOperationException>(() => early.GetAwaiter().GetResult());
        var other = map.PutAsync("b1", 2);
        world.RunUntil(() => early.IsCompleted && other.IsCompleted, "Both puts");
        Assert.Single(early.GetAwaiter().GetResult().Versions);
        Assert.Throws<InvalidOperationException>(() => early.GetAwaiter().GetResult());
        Assert.Single((await other).Versions);
        var third = map.PutAsync("c1", 3);
        var fourth = map.PutAsync("d1", 4);
        world.RunUntil(() => third.IsCompleted && fourth.IsCompleted, "The later puts");
        Assert.NotEqual((await third).Operation, (await fourth).Operation);
    }
#pragma warning restore CA2012, xUnit1031

    [Fact]
    public async Task F26_what_throws_while_a_call_is_built_leaves_the_pool_sound()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, int>("ints");
        for (int i = 0; i < 3; i++)
        {
            Assert.Throws<InvalidDataException>(() => { _ = map.PutAsync(Bad()).AsTask(); });
            Assert.Throws<ArgumentException>(() => { _ = map.PutAsync([new("a0", 1), new("a0", 2)]).AsTask(); });
            Assert.Throws<ArgumentException>(() => { _ = map.GetAsync(["a0", "a0"]).AsTask(); });
            Assert.Throws<ArgumentNullException>(() => { _ = map.GetAsync((string)null!).AsTask(); });
            Assert.Empty((await map.PutAsync([])).Versions);
        }
        var puts = Enumerable.Range(0, 6).Select(i => map.PutAsync([new($"{(char)('a' + i)}0", i), new($"{(char)('a' + i)}1", i)]).AsTask()).ToList();
        world.RunUntil(() => puts.TrueForAll(p => p.IsCompleted), "The puts");
        foreach (var put in puts) Assert.Equal(2, (await put).Versions.Count);
        var x = map.GetAsync("x0").AsTask();
        world.RunUntil(() => x.IsCompleted, "The read");
        Assert.False((await x).Found);

        static IEnumerable<KeyValuePair<string, int>> Bad()
        {
            yield return new("x0", 1);
            throw new InvalidDataException("of the caller");
        }
    }

    [Fact]
    public void Only_stated_steps_of_an_operation_are_possible()
    {
        foreach (var phase in Enum.GetValues<OperationPhase>())
        {
            Assert.False(OperationPhases.MayFollow(phase, phase), $"{phase} twice");
            Assert.Equal(phase is OperationPhase.Building or OperationPhase.Queued or OperationPhase.Finished, OperationPhases.MayFollow(phase, OperationPhase.Free));
            Assert.Equal(phase == OperationPhase.Sent, OperationPhases.MayFollow(phase, OperationPhase.Detached));
        }
        var dht = DhtWorld.Founded(2, options: new() { ShardSize = 2, TargetSize = 2 }).Members[0].Dht;
        var op = new PutOperation(dht, null!);
        Assert.Throws<InvalidOperationException>(() => op.Move(OperationPhase.Finished));
        Assert.Equal(OperationPhase.Free, op.Phase);
        Assert.Equal(1, dht.Counters.ForbiddenSteps);
    }

    [Fact]
    public async Task F23_an_id_that_the_caller_made_up_stops_nothing()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var map = dht.Map<string, int>("ints");
        var first = map.PutAsync("a1", 1).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        var id = (await first).Operation;
        var made = map.PutAsync("b1", 2, new() { Operation = new(id.Session, id.Sequence + 2) }).AsTask();
        world.Poke();
        var next = map.PutAsync("c1", 3).AsTask();
        world.RunUntil(() => made.IsCompleted && next.IsCompleted, "Both puts");
        Assert.IsType<ArgumentException>(made.Exception?.InnerException);
        Assert.Single((await next).Versions);
        Assert.Throws<ArgumentException>(() => { _ = map.PutAsync("d1", 4, new() { Operation = default(OperationId) }).AsTask(); });
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task F23_two_retries_of_one_put_at_one_member_get_an_answer_each(bool pending)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 1 } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var id = Unknown(world, map.PutAsync("a1", 1, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        // At the member that issued the put, or at another one, whose only place is taken.
        var at = world.Members[pending ? 0 : 2].Dht.Map<string, int>("ints");
        var busy = at.PutAsync("z1", 9).AsTask();
        var retries = Enumerable.Range(0, 2).Select(_ => at.PutAsync("a1", 1, new() { Operation = id }).AsTask()).ToList();
        world.Poke();
        Assert.IsType<ArgumentException>(retries[1].Exception!.InnerException);
        world.RunUntil(() => retries[0].IsCompleted && busy.IsCompleted, "The first retry and the put before it");
        Assert.Equal(id, (await retries[0]).Operation);
        world.Settle();
    }

    internal static OperationId Unknown(DhtWorld world, Task call)
    {
        world.Poke();
        world.Advance(TimeSpan.FromMilliseconds(20));
        return Assert.IsType<OutcomeUnknownException>(call.Exception!.InnerException).Operation;
    }
}
