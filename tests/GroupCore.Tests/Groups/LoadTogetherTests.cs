using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

/// <summary>The view that says that a joiner has the state begins the transfers to all other joiners again. So it waits for joiners that are nearly as fast.</summary>
public sealed class LoadTogetherTests
{
    [Fact]
    public void Joiners_that_load_together_do_not_begin_again_with_each_of_them_that_is_done()
    {
        GroupCluster? all = null;
        int saves = 0;
        using var cluster = new GroupCluster(1, 2, beforeMembers: c => all = c, link: new() { TailChance = 0 }, tap: node => new DelayingNode(all!.Simulation, node, work =>
        {
            if (work is StateCut) saves++;
            return TimeSpan.Zero;
        }))
        {
            StateBytes = 4_000_000,
        };
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        saves = 0;
        cluster.Oracle.Gather = TimeSpan.FromMilliseconds(100);
        for (int i = 0; i < 6; i++)
        {
            var comer = cluster.Add();
            foreach (var giver in cluster.Members.Take(2)) cluster.Simulation.Network.Slow(giver.SimNode, comer.SimNode, 100 + (50 * i));
        }
        Assert.True(cluster.Settle(60));
        Assert.InRange(saves, 1, 3);
    }
}
