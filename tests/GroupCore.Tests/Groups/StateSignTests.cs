using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>What the giver of a state says while joiners wait for it.</summary>
public sealed class StateSignTests
{
    [Fact]
    public void R12_joiners_hear_from_their_giver_once_a_second_however_many_views_come()
    {
        GroupCluster? all = null;
        int signs = 0;
        using var cluster = new GroupCluster(91, 1, beforeMembers: c => all = c, tap: node => new TappedNode(
            new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromSeconds(60) : TimeSpan.Zero), (_, _, _, header, _) =>
            {
                if (header.Type == FrameType.StateSign) signs++;
            }));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }], TimeSpan.FromSeconds(5)));
        for (int i = 0; i < 10; i++)
        {
            ulong view = cluster[0].Group!.CurrentView.Id;
            cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
            Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id > view, TimeSpan.FromSeconds(2)));
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        signs = 0;
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.InRange(signs, 9, 11);
    }
}
