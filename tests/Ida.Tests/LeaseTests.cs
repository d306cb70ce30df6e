namespace Ida.Tests;

/// <summary>A member answers reads while it holds its lease. A read that comes without the lease waits, and is answered when the lease is back.</summary>
public sealed class LeaseTests
{
    /// <summary>With keys of one shard, and of two.</summary>
    [Theory]
    [InlineData("a0", "b0")]
    [InlineData("a0", "a1")]
    public async Task R_a_read_of_two_keys_that_waits_for_the_lease_is_answered_when_it_is_there(params string[] keys)
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        member.Lease = false;
        var read = member.Dht.Map<string, int>("ints").GetAsync(keys).AsTask();
        for (int tick = 0; tick < 3; tick++)
        {
            world.Advance(TimeSpan.FromMilliseconds(10));
            world.DeliverAll();
        }
        Assert.False(read.IsCompleted);
        member.Lease = true;
        world.RunUntil(() => read.IsCompleted, "The read", steps: 500);
        Assert.Empty(await read);
    }
}
