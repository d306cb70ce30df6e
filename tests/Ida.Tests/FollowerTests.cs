namespace Ida.Tests;

/// <summary>A second call of a put whose caller gave up, at the same member: it waits for the first call, but only as long as its own caller wants.</summary>
public sealed class FollowerTests
{
    /// <summary>The put is stuck, and its own time is ten hours. A caller that waits for it for 50 ms is then told that nothing is known; the next one is told the result.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_retry_that_waits_for_its_put_waits_no_longer_than_its_own_time(bool expires)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        KeyValuePair<string, long>[] pairs = [new("a0", 1), new("a1", 1)];
        using var cancellation = new CancellationTokenSource();
        var first = map.MergeAsync(pairs, cancellationToken: cancellation.Token).AsTask();
        world.Poke();
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(first.Exception!.InnerException).Operation;

        var follower = map.MergeAsync(pairs, new() { Operation = id, Timeout = expires ? TimeSpan.FromMilliseconds(50) : null }).AsTask();
        world.Poke();
        world.Advance(TimeSpan.FromMilliseconds(49));
        Assert.False(follower.IsCompleted);
        // Only one call may wait at a time.
        var beside = map.MergeAsync(pairs, new() { Operation = id }).AsTask();
        world.Poke();
        Assert.IsType<ArgumentException>(beside.Exception!.InnerException);
        // No frame has been delivered, so it is not the end of the put that ends this call.
        world.Advance(TimeSpan.FromMilliseconds(11));
        Assert.Equal(expires, follower.IsCompleted);
        if (expires)
        {
            var unknown = Assert.IsType<OutcomeUnknownException>(follower.Exception!.InnerException);
            Assert.Equal(id, unknown.Operation);
            Assert.IsType<OperationNotExecutedException>(unknown.InnerException);
            // The waiting place is free again, and the put goes on.
            follower = map.MergeAsync(pairs, new() { Operation = id }).AsTask();
            world.Advance(TimeSpan.FromMilliseconds(200));
            Assert.False(follower.IsCompleted);
        }
        world.RunUntil(() => follower.IsCompleted, "The put");
        Assert.Equal((id, 2), ((await follower).Operation, (await follower).Versions.Count));
        world.Settle();
        var read = map.GetAsync(["a0", "a1"]).AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal([1L, 1L], (await read).Values);
        Assert.All(world.Members, m => Assert.False(m.Host.Current!.Coordinator.HasWork));
    }
}
