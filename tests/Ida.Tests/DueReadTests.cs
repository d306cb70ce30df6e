namespace Ida.Tests;

/// <summary>An operation that waited for a member and may go now gets the bytes that become free before calls that have not begun.</summary>
public sealed class DueReadTests
{
    private const int Caller = 0, Late = 1, Other = 2, Bytes = 100_000;

    /// <summary>A read of one key counts less than the limit. A read of all of them counts more, and goes when nothing else is on the way.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(14)]
    public void R_a_read_that_waited_for_a_late_member_is_not_kept_by_calls_that_came_later(int keys)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 1, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlightBytes = 1 << 20 } });
        world.LateViews = true;
        world.ChangeView();
        var map = world.Members[Caller].Dht.Map<string, byte[]>("bytes");
        var puts = new Task?[20];
        int ended = 0;
        char there = End(world, Late), elsewhere = End(world, Other);
        world.DeliverAll(static (from, _) => from != Late);
        Task read = keys == 1 ? map.GetAsync($"a{there}").AsTask() : map.GetAsync(Enumerable.Range(0, keys).Select(i => $"{(char)('a' + i)}{there}")).AsTask();
        for (int i = 0; i < 300 && !read.IsCompleted; i++)
        {
            for (int j = 0; j < puts.Length; j++)
            {
                if (puts[j] is { IsCompleted: false }) continue;
                ended += puts[j] is { IsCompletedSuccessfully: true } ? 1 : 0;
                puts[j] = map.PutAsync($"{(char)('a' + j)}{elsewhere}", new byte[Bytes]).AsTask();
            }
            world.Poke();
            // One put ends after the other, and those that wait take its place.
            for (int j = 0; j < 3; j++) world.Deliver(Caller, Other);
            world.DeliverAll((from, _) => from != Caller && (from != Late || i >= 10));
            world.DeliverAll((from, to) => from != Other && to != Other && (from != Late || i >= 10));
            Assert.False(read.IsCompleted && i < 10);
            world.Advance(TimeSpan.FromMilliseconds(1));
        }
        Assert.True(read.IsCompletedSuccessfully, $"{ended} puts ended: {read.Exception?.Message}");
        Assert.True(ended > 10);
        world.RunUntil(() => Array.TrueForAll(puts, static put => put!.IsCompleted), "The puts");
        Assert.All(puts, static put => Assert.True(put!.IsCompletedSuccessfully || put.Exception?.InnerException is OverloadedException));
    }

    private static char End(DhtWorld world, int member) => (char)('0' + world.Members[member].Host.Current!.State.Shard);
}
