namespace Ida.Tests;

/// <summary>A conditional put or a merge of one key, cancelled after each single step and repeated under its id.</summary>
public sealed class ConditionCancellationTests
{
    [Theory]
    [InlineData(true, 1)]
    [InlineData(true, 2)]
    [InlineData(false, 1)]
    [InlineData(false, 2)]
    public async Task A_conditional_put_cancelled_at_any_step_is_told_its_verdict_under_its_id(bool met, int retriedAt)
    {
        int cancelled = 0, unknown = 0;
        bool more = true;
        for (int step = 0; more; step++)
        {
            var world = DhtWorld.Founded(4);
            var map = world.Members[1].Dht.Map<string, string>("texts");
            await world.EndAsync(map.PutAsync("a0", "old"));
            ulong version = (await world.EndAsync(map.GetAsync("a0"))).Version + (met ? 0UL : 1);
            world.Settle();
            using var cancellation = new CancellationTokenSource();
            var put = map.TryReplaceAsync("a0", "new", version, null, cancellation.Token).AsTask();
            Step(world, put, step);
            more = !put.IsCompleted;
            await cancellation.CancelAsync();
            world.Poke();
            Assert.True(put.IsCompleted, $"The call was cancelled at step {step} and has not ended.");
            var error = await Record.ExceptionAsync(() => put);
            if (error is null) Assert.Equal(met, await put);
            else if (error is OperationCanceledException) cancelled++;
            else
            {
                unknown++;
                var id = Assert.IsType<OutcomeUnknownException>(error).Operation;
                Assert.Equal(met, await world.EndAsync(world.Members[retriedAt].Dht.Map<string, string>("texts").TryReplaceAsync("a0", "new", version, new() { Operation = id })));
            }
            world.AssertIdle();
            Assert.Equal(met && error is not OperationCanceledException ? "new" : "old", (await world.EndAsync(map.GetAsync("a0"))).Value);
            world.AssertEqualReplicas();
        }
        Assert.True(cancelled > 0 && unknown > 2, $"{cancelled} and {unknown}");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_merge_of_one_key_cancelled_at_any_step_is_told_what_is_stored_under_its_id(int retriedAt)
    {
        int cancelled = 0, unknown = 0;
        bool more = true;
        for (int step = 0; more; step++)
        {
            var world = DhtWorld.Founded(4);
            var map = world.Members[1].Dht.Map<string, long>("longs");
            await world.EndAsync(map.PutAsync("a0", 5));
            world.Settle();
            using var cancellation = new CancellationTokenSource();
            var merge = map.MergeAsync("a0", 2L, null, cancellation.Token).AsTask();
            Step(world, merge, step);
            more = !merge.IsCompleted;
            await cancellation.CancelAsync();
            world.Poke();
            Assert.True(merge.IsCompleted, $"The call was cancelled at step {step} and has not ended.");
            var error = await Record.ExceptionAsync(() => merge);
            if (error is null) Assert.Equal(7, await merge);
            else if (error is OperationCanceledException) cancelled++;
            else
            {
                unknown++;
                var id = Assert.IsType<OutcomeUnknownException>(error).Operation;
                Assert.Equal(7, await world.EndAsync(world.Members[retriedAt].Dht.Map<string, long>("longs").MergeAsync("a0", 2L, new() { Operation = id })));
            }
            world.AssertIdle();
            Assert.Equal(error is OperationCanceledException ? 5 : 7, (await world.EndAsync(map.GetAsync("a0"))).Value);
        }
        Assert.True(cancelled > 0 && unknown > 2, $"{cancelled} and {unknown}");
    }

    /// <summary>Takes the command, then delivers frame by frame, until the call has ended or so many steps were made.</summary>
    internal static void Step(DhtWorld world, Task call, int steps)
    {
        for (int i = 0; i < steps && !call.IsCompleted; i++)
        {
            var busy = world.Busy();
            if (i > 0 && busy.Count == 0) world.Advance(TimeSpan.FromMilliseconds(2));
            else if (i > 0) world.Deliver(busy[i % busy.Count].From, busy[i % busy.Count].To);
            world.Poke();
        }
        Assert.True(call.IsCompleted || steps < 400, $"It has not ended after {steps} steps.");
    }
}
