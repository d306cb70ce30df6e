using GroupCore.Groups;
using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

/// <summary>Even the shortest join timeout tolerates a state that takes long, since joiners hear once a second that it makes progress.</summary>
public sealed class ShortJoinTimeoutTests
{
    private static (GroupCluster Cluster, TestMember Comer) Joining(ulong seed, TimeSpan saves)
    {
        GroupCluster? all = null;
        var cluster = new GroupCluster(seed, 2, beforeMembers: c => all = c,
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? saves : TimeSpan.Zero));
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group is not null && cluster[1].Group is not null, saves * 3 + TimeSpan.FromSeconds(10)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return (cluster, cluster.Add(host: new() { JoinTimeout = TimeSpan.FromSeconds(1) }));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void R_a_state_that_is_being_saved_is_progress_however_short_the_time_of_the_join(ulong seed)
    {
        var (cluster, comer) = Joining(seed, TimeSpan.FromSeconds(5.5));
        using var closing = cluster;
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(20)));
        Assert.Null(comer.JoinError);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void R_a_join_whose_giver_falls_silent_still_ends_in_its_time_and_a_sign()
    {
        var (cluster, comer) = Joining(4, TimeSpan.FromSeconds(10));
        using var closing = cluster;
        cluster.Simulation.Run(TimeSpan.FromSeconds(0.5));
        foreach (var member in cluster.Members)
            if (member != comer) cluster.Simulation.Network.Cut(member.SimNode, comer.SimNode);
        var begun = cluster.Simulation.Now;
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null, TimeSpan.FromSeconds(20)));
        Assert.IsType<JoinTimeoutException>(comer.JoinError);
        Assert.InRange(cluster.Simulation.Now - begun, TimeSpan.FromSeconds(0.4), TimeSpan.FromSeconds(2.1));
    }
}
