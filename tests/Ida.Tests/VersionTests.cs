namespace Ida.Tests;

/// <summary>Versions of a key rise with every put and are the same at all replicas, also with removals in between.</summary>
public sealed class VersionTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F28_a_put_after_a_remove_of_equal_time_has_a_higher_version_at_all_replicas(bool onlyOneForgets)
    {
        var world = DhtWorld.Founded(4);
        world.Now += 10_000_000;
        var session = world.Members.ConvertAll(m => m.Host.Current!.State.Session);
        var (first, second) = session[1] < session[3] ? (1, 3) : (3, 1);
        var stored = world.Members[first].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        var removed = world.Members[second].Dht.Map<string, int>("ints").RemoveAsync(["a0"]).AsTask();
        world.Poke();
        // The replicas meet the two operations in different order, so both get the same time.
        world.Deliver(first, 0);
        world.Deliver(second, 2);
        world.Deliver(second, 0);
        world.Deliver(first, 2);
        world.DeliverAll();
        Assert.True(stored.IsCompletedSuccessfully && removed.IsCompletedSuccessfully);
        ulong before = (await removed).Versions[0];
        Assert.Equal((await stored).Versions[0] + 1, before);
        if (onlyOneForgets)
        {
            // A reader that waits for the lease keeps the entry, with a value or without.
            world.Members[0].Lease = false;
            _ = world.Members[0].Dht.Map<string, int>("ints").GetAsync("a0").AsTask();
            world.Poke();
        }
        // Settles what is settled, without a step of the clock.
        foreach (var member in world.Members) member.Turn(() => member.Host.Current!.OnTimer(0));
        world.DeliverAll();
        foreach (var member in world.Members) member.Turn(() => member.Host.Current!.OnTimer(0));
        world.DeliverAll();
        var again = world.Members[first].Dht.Map<string, int>("ints").PutAsync("a0", 2).AsTask();
        world.Poke();
        world.DeliverAll();
        Assert.True(again.IsCompletedSuccessfully);
        Assert.True((await again).Versions[0] > before, $"{(await again).Versions[0]} after {before}");
        world.Members[0].Lease = true;
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);
    }
}
