using GroupCore.Runtime;

namespace Ida.Tests;

/// <summary>What a caller that gives up is told: before anything was done, after it, and where there is no room to say so.</summary>
public sealed class CancellationTests
{
    [Fact]
    public async Task F29_a_call_with_a_token_that_is_cancelled_already_does_nothing()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var map = dht.Map<string, long>("longs");
        var gone = new CancellationToken(true);
        Task[] calls =
        [
            map.PutAsync("a1", 1, cancellationToken: gone).AsTask(), map.PutAsync([new("a1", 1)], cancellationToken: gone).AsTask(),
            map.PutAsync([], cancellationToken: gone).AsTask(), map.RemoveAsync(["a1"], cancellationToken: gone).AsTask(),
            map.MergePairAsync("a1", 1L, cancellationToken: gone).AsTask(), map.MergeAsync([new KeyValuePair<string, long>("a1", 1)], cancellationToken: gone).AsTask(),
            map.GetAsync("a0", cancellationToken: gone).AsTask(), map.GetAsync(["a0", "a1"], cancellationToken: gone).AsTask(), map.GetAsync([], cancellationToken: gone).AsTask(),
            dht.NewBatch().Put(map, "a1", 1).CommitAsync(gone).AsTask(), dht.NewBatch().CommitAsync(gone).AsTask(), dht.NewReading().RunAsync(gone).AsTask(),
            dht.StatusAsync(gone), dht.SnapshotAsync(gone), dht.CloseAsync(gone).AsTask(),
        ];
        world.Poke();
        foreach (var call in calls) Assert.Equal(gone, (await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call)).CancellationToken);
        Assert.Equal(0, world.Members.Sum(m => m.Dht.Counters.Sent));
        Assert.False(dht.Completion.IsCompleted);
        var read = map.GetAsync("a1").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.False((await read).Found);
    }

    [Fact]
    public async Task F29_a_cancelled_call_in_the_command_queue_is_not_executed()
    {
        var world = DhtWorld.Founded(4);
        using var cancellation = new CancellationTokenSource();
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync("a1", 1, cancellationToken: cancellation.Token).AsTask();
        await cancellation.CancelAsync();
        world.Poke();
        Assert.Equal(cancellation.Token, (await Assert.ThrowsAnyAsync<OperationCanceledException>(() => put)).CancellationToken);
        Assert.Equal(0, world.Members[0].Dht.Counters.Sent);
    }

    [Fact]
    public async Task F29_a_cancellation_is_not_lost_to_a_full_command_queue()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 2 } });
        var member = world.Members[0];
        var map = member.Dht.Map<string, int>("ints");
        using var cancellation = new CancellationTokenSource();
        var put = map.PutAsync("a1", 1, cancellationToken: cancellation.Token).AsTask();
        var get = map.GetAsync("a1", cancellationToken: cancellation.Token).AsTask();
        var waits = map.PutAsync("b1", 1, cancellationToken: cancellation.Token).AsTask();
        world.Poke();
        var queued = map.PutAsync("c1", 1, cancellationToken: cancellation.Token).AsTask();
        Fill(member);
        var noRoom = map.PutAsync("d1", 1, cancellationToken: cancellation.Token).AsTask();
        await cancellation.CancelAsync();
        for (int i = 0; i < 40; i++) world.Advance(TimeSpan.FromMilliseconds(1));
        Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException);
        foreach (Task call in new Task[] { get, waits, queued, noRoom }) await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        world.Settle();
        var read = map.GetAsync(["b1", "c1", "d1"]).AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Empty(await read);
    }

    [Fact]
    public async Task F29_questions_and_the_end_wait_for_room_in_the_command_queue()
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        Fill(member);
        using var cancellation = new CancellationTokenSource();
        var given = member.Dht.StatusAsync(cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => given);
        Task[] calls = [member.Dht.StatusAsync(), member.Dht.SnapshotAsync(), member.Dht.CloseAsync().AsTask()];
        world.RunUntil(() => Array.TrueForAll(calls, c => c.IsCompletedSuccessfully), "The answers");
        Assert.True(member.Dht.Completion.IsCompletedSuccessfully);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(-10_001)]
    public void F29_a_timeout_of_zero_or_less_is_refused(long ticks)
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var map = dht.Map<string, int>("ints");
        var put = new PutOptions { Timeout = TimeSpan.FromTicks(ticks) };
        var get = new GetOptions { Timeout = TimeSpan.FromTicks(ticks) };
        Action[] calls =
        [
            () => _ = map.PutAsync("a1", 1, put).AsTask(), () => _ = map.GetAsync("a1", get).AsTask(), () => _ = map.GetAsync(["a1", "b1"], get).AsTask(),
            () => _ = dht.NewBatch(put), () => _ = dht.NewReading(get),
        ];
        foreach (var call in calls)
        {
            var error = Assert.Throws<ArgumentOutOfRangeException>(call);
            Assert.Equal("options", error.ParamName);
            Assert.Contains("positive", error.Message, StringComparison.Ordinal);
            Assert.Contains("InfiniteTimeSpan", error.Message, StringComparison.Ordinal);
        }
        Assert.Throws<DhtConfigurationException>(() => (world.Options with { Member = world.Options.Member with { Timeout = TimeSpan.FromTicks(ticks) } }).Validate());
    }

    [Fact]
    public async Task F29_an_infinite_timeout_ends_no_call()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = Timeout.InfiniteTimeSpan } });
        var map = world.Members[0].Dht.Map<string, int>("ints");
        Task[] calls =
        [
            map.PutAsync("a1", 1).AsTask(), map.PutAsync("b1", 1, new() { Timeout = TimeSpan.MaxValue }).AsTask(),
            map.GetAsync("c1", new() { Timeout = Timeout.InfiniteTimeSpan }).AsTask(),
        ];
        world.Poke();
        for (int i = 0; i < 100; i++) world.Advance(TimeSpan.FromDays(100));
        Assert.DoesNotContain(calls, c => c.IsCompleted);
        world.RunUntil(() => Array.TrueForAll(calls, c => c.IsCompleted), "The calls");
        await Task.WhenAll(calls);
    }

    /// <summary>Posts until the queue takes no more.</summary>
    private static void Fill(HarnessMember member)
    {
        int most = 1 << 20;
        while (member.Node.TryPost(new Nothing()) && most-- > 0)
        {
        }
        Assert.InRange(most, 1, int.MaxValue);
    }

    private sealed class Nothing : NodeCommand
    {
        public override void Run()
        {
        }

        public override void Abandon(Exception reason)
        {
        }
    }
}
