namespace Ida.Tests;

/// <summary>A value that is made from the present one: read, computed, and put if nothing has changed meanwhile.</summary>
public sealed class UpdateTests
{
    [Fact]
    public async Task Updates_of_four_members_at_once_lose_none()
    {
        const int Each = 15;
        WorldCalls.GoOnInPlace();
        for (ulong seed = 1; seed <= 10; seed++)
        {
            var world = DhtWorld.Founded(4, seed);
            int computed = 0;
            var loops = world.Members.ConvertAll(member => LoopAsync(member.Dht.Map<string, long>("longs")));
            for (int step = 0; step < 100_000 && !loops.TrueForAll(static loop => loop.IsCompleted); step++)
            {
                world.Poke();
                var busy = world.Busy();
                if (busy.Count == 0) world.Advance(TimeSpan.FromMilliseconds(1));
                else
                {
                    var (from, to) = busy[world.Random.Next(busy.Count)];
                    world.Deliver(from, to);
                }
            }
            await Task.WhenAll(loops);
            Assert.Equal(4 * Each, (await world.EndAsync(world.Members[0].Dht.Map<string, long>("longs").GetAsync("a0"))).Value);
            // The updates did meet.
            Assert.True(computed > 4 * Each, $"{computed} attempts");
            world.AssertIdle();

            async Task LoopAsync(DhtMap<string, long> map)
            {
                for (int i = 0; i < Each; i++) await map.UpdateAsync("a0", Add).ConfigureAwait(false);
            }

            long Add(Entry<long> entry)
            {
                computed++;
                return entry.ValueOr(0) + 1;
            }
        }
    }

    [Fact]
    public async Task An_update_makes_what_is_absent_removes_it_and_leaves_it()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        Assert.Equal("new", await world.EndAsync(map.UpdateAsync("a0", static text => text.Found ? "wrong" : "new")));
        Assert.Equal("new!", await world.EndAsync(map.UpdateAsync("a0", static text => text.Value + "!")));
        Assert.Null(await world.EndAsync(map.UpdateAsync("a0", static _ => null)));
        Assert.False((await world.EndAsync(map.GetAsync("a0"))).Found);
        world.Settle();
        long proposed = world.Members[1].Dht.Counters.SentOf(Ida.Wire.DhtFrame.Propose);
        Assert.Null(await world.EndAsync(map.UpdateAsync("a0", static _ => null)));
        // There was nothing to put.
        Assert.Equal(proposed, world.Members[1].Dht.Counters.SentOf(Ida.Wire.DhtFrame.Propose));
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    [Fact]
    public async Task A_removal_by_an_update_does_not_remove_what_was_put_meanwhile()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync("a0", "old"));
        var seen = new List<string?>();
        Task? between = null;
        var update = map.UpdateAsync("a0", text =>
        {
            seen.Add(text.ValueOr(null));
            // Another member's put comes first.
            if (seen.Count > 1) return text.Value == "old" ? null : text.Value + "!";
            between = world.Members[2].Dht.Map<string, string>("texts").PutAsync("a0", "other").AsTask();
            world.Members[2].Turn(static () => { });
            world.DeliverAll(static (from, to) => from is 0 or 2 && to is 0 or 2);
            return null;
        }).AsTask();
        Assert.Equal("other!", await world.EndAsync(update));
        await between!;
        Assert.Equal(["old", "other"], seen);
        world.AssertIdle();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task An_error_of_the_function_is_the_error_of_the_update_and_leaves_nothing_open(int at)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync("a0", "old"));
        int calls = 0;
        var update = map.UpdateAsync("a0", text =>
        {
            if (++calls == at) throw new FormatException("by the function");
            _ = world.Members[2].Dht.Map<string, string>("texts").PutAsync("a0", "other").AsTask();
            world.Members[2].Turn(static () => { });
            world.DeliverAll(static (from, to) => from is 0 or 2 && to is 0 or 2);
            return text.Value + "!";
        }).AsTask();
        Assert.Equal("by the function", (await Assert.ThrowsAsync<FormatException>(() => world.EndAsync(update))).Message);
        Assert.Equal(at, calls);
        world.AssertIdle();
        Assert.Equal(at == 1 ? "old" : "other", (await world.EndAsync(map.GetAsync("a0"))).Value);
    }

    /// <summary>No function is given what one replica has executed and another has not: a reader at the other replica that begins later would miss it.</summary>
    [Fact]
    public async Task An_update_reads_only_what_is_stable_whatever_the_level_of_the_table()
    {
        WorldCalls.GoOnInPlace();
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), Level = ConsistencyLevel.Ordered } });
        var strict = new GetOptions { Level = ConsistencyLevel.Strict };
        // The clock of one replica is ahead, so the put gets a time above what the other one proposes.
        world.Members[0].Skew = 300_000_000;
        Assert.True(Begin(0, map => map.GetAsync(["a0", "b0"], strict).AsTask()).IsCompleted);
        var put = Begin(1, static map => map.PutAsync("a0", "put", new() { Level = ConsistencyLevel.Strict }).AsTask());
        world.DeliverAll(static (from, to) => (from, to) is (1, 0) or (1, 2));
        world.DeliverAll(static (_, to) => to == 1);
        world.DeliverAll(static (from, to) => (from, to) is (1, 0));
        string? given = null;
        var update = Begin(0, map => map.UpdateAsync("a0", text =>
        {
            given = text.ValueOr("nothing");
            throw new FormatException("It has seen enough.");
        }).AsTask());
        bool wasGiven = given is not null;
        var later = Begin(2, map => map.GetAsync(["a0", "b0"], strict).AsTask());
        world.RunUntil(() => put.IsCompleted && later.IsCompleted && update.IsCompleted, "All");
        Assert.False(wasGiven, $"The function was given '{given}', and a read that began later has found {(await later).Count} entries.");
        Assert.Equal("put", given);
        await Assert.ThrowsAsync<FormatException>(() => update);
        world.AssertIdle();

        T Begin<T>(int member, Func<DhtMap<string, string>, T> call)
        {
            var task = call(world.Members[member].Dht.Map<string, string>("texts"));
            world.Members[member].Turn(static () => { });
            return task;
        }
    }

    /// <summary>Cancelled after each single step of reading and putting: the new value is there or not, and a caller that was told "cancelled" finds the old one.</summary>
    [Fact]
    public async Task An_update_cancelled_at_any_step_is_done_or_not_done()
    {
        WorldCalls.GoOnInPlace();
        var told = new Dictionary<string, int>();
        bool more = true;
        for (int step = 0; more; step++)
        {
            var world = DhtWorld.Founded(4);
            var map = world.Members[1].Dht.Map<string, string>("texts");
            await world.EndAsync(map.PutAsync("a0", "old"));
            world.Settle();
            using var cancellation = new CancellationTokenSource();
            var update = map.UpdateAsync("a0", static text => text.Value + "!", null, cancellation.Token).AsTask();
            ConditionCancellationTests.Step(world, update, step);
            more = !update.IsCompleted;
            await cancellation.CancelAsync();
            world.Poke();
            Assert.True(update.IsCompleted, $"The call was cancelled at step {step} and has not ended.");
            var error = await Record.ExceptionAsync(() => update);
            world.AssertIdle();
            string value = (await world.EndAsync(map.GetAsync("a0"))).Value, name = error?.GetType().Name ?? "done";
            told[name] = told.GetValueOrDefault(name) + 1;
            if (error is null) Assert.Equal("old!", value);
            else if (error is OperationCanceledException) Assert.Equal("old", value);
            else
            {
                // The put goes on, and what it expects is there.
                Assert.IsType<OutcomeUnknownException>(error);
                Assert.Equal("old!", value);
            }
        }
        Assert.True(told.GetValueOrDefault(nameof(OutcomeUnknownException)) > 2 && told["done"] == 1 && told.Count >= 3, string.Join(", ", told));
    }
}
