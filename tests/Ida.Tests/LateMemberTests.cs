using Ida.Wire;

namespace Ida.Tests;

/// <summary>A member that hears of a view late stays a member, whatever the DHT has for it in that view.</summary>
public sealed class LateMemberTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromMinutes(5) } };

    [Theory, InlineData(10, 256_000, 1), InlineData(80, 256_000, 1), InlineData(80, 256_000, 2), InlineData(80, 256_000, 3), InlineData(9_000, 10, 1)]
    public void Puts_wait_for_a_member_that_hears_of_a_view_late(int puts, int bytes, ulong seed)
    {
        using var cluster = new GroupCluster(seed, 4, beforeMembers: static made => made.HostOptions = new() { Layers = [DhtFrame.Layer] });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var dhts = new Dht[4];
        int enabled = 0;
        for (int i = 0; i < 4; i++)
        {
            int member = i;
            _ = cluster.Simulation.Spawn(async () =>
            {
                dhts[member] = await cluster[member].Group!.EnableDhtAsync(s_options, DhtWorld.Maps);
                enabled++;
            });
        }
        Assert.True(cluster.Simulation.RunUntil(() => enabled == 4, TimeSpan.FromSeconds(5)));
        Assert.True(cluster.Settle());
        int[] slots = [.. dhts.Select(static dht => dht.Layer.State.Slot)];
        var (late, crashed, other) = (Array.IndexOf(slots, 1), Array.IndexOf(slots, 3), Array.IndexOf(slots, 0));
        cluster.ChangeViewWithout(cluster[late], cluster[crashed]);
        int done = 0;
        var errors = new List<Exception>();
        for (int i = 0; i < puts; i++)
        {
            // As many as the queue of commands takes at once.
            if (i % 200 == 199) cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            string key = $"{i} in shard 1";
            _ = cluster.Simulation.Spawn(async () =>
            {
                try
                {
                    await dhts[other].Map<string, byte[]>("bytes").PutAsync(key, new byte[bytes]);
                    done++;
                }
                catch (DhtException error)
                {
                    errors.Add(error);
                }
            });
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Equal(0, done);
        cluster[late].Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => done + errors.Count == puts || cluster[late].Group!.Completion.IsCompleted, TimeSpan.FromSeconds(60)), $"{done} were done");
        Assert.False(cluster[late].Group!.Completion.IsCompleted);
        Assert.Empty(errors);
    }
}
