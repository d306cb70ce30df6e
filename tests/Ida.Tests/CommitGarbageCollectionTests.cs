using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>What a sender keeps of commits until their receivers have counted them.</summary>
public sealed class CommitGarbageCollectionTests
{
    /// <summary>A member counts none of the commits that it gets. The sender then asks for the next view, in which all begin to count anew.</summary>
    [Fact]
    public void R_commits_that_nobody_counts_are_bounded_by_a_view()
    {
        var world = DhtWorld.Founded(4);
        var layer = world.Members[0].Host.Current!;
        var collection = new CommitGarbageCollection(layer.State, new(layer.State), layer.Participant);
        collection.Begin(4);
        int[] ranks = new int[4096];
        Array.Fill(ranks, 1);
        for (int i = 0; i < CommitGarbageCollection.MostOpen / ranks.Length; i++) collection.CommitSent(ranks, null);
        Assert.False(world.ViewRequested);
        collection.CommitSent(ranks, null);
        Assert.True(world.ViewRequested);
    }

    /// <summary>A put is stable and executed at one of its two replicas. Its commit to the other is lost with the sender, so that replica holds it without a time.</summary>
    [Fact]
    public async Task A_replica_knows_a_put_until_the_other_has_its_commit()
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[1].Dht.Map<string, long>("longs").PutAsync("a0", 7L).AsTask();
        world.Poke();
        world.DeliverAll(static (from, _) => from == 1);
        world.DeliverAll(static (_, to) => to == 1);
        Assert.True(put.IsCompletedSuccessfully);
        world.DeliverUntil(1, 0, DhtFrame.Commit);
        world.Crash(world.Members[1], loseAll: true);
        world.ChangeView();
        foreach (int replica in new[] { 0, 2 })
        {
            var read = world.Members[replica].Dht.Map<string, long>("longs").GetAsync("a0").AsTask();
            world.RunUntil(() => read.IsCompleted, "The read");
            Assert.Equal(7L, (await read).Value);
        }
    }
}
