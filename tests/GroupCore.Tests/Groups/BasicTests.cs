namespace GroupCore.Tests.Groups;

public sealed class BasicTests
{
    [Fact]
    public void Three_members_join_send_and_agree()
    {
        using var cluster = new GroupCluster(1, 3);
        Assert.True(cluster.Settle());
        foreach (var member in cluster.Members)
        {
            _ = cluster.Simulation.Spawn(() => member.SendAsync(ordered: false));
            _ = cluster.Simulation.Spawn(() => member.SendAsync(ordered: true));
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Null(cluster.Verdict());
        Assert.Equal(18, cluster.Checker.Deliveries);
        Assert.Single(cluster.Members.Select(m => m.Digest).Distinct());
    }

    /// <summary>Otherwise a process that comes and goes under ever new names would leave behind, at all other members, links that they dial for ever.</summary>
    [Fact]
    public void A_link_is_asked_for_as_long_as_a_view_has_both()
    {
        using var cluster = new GroupCluster(1, 3);
        Assert.True(cluster.Settle());
        var (stays, leaves) = (cluster[0], cluster[2]);
        Assert.Equal(2, stays.SimNode.Links.Ends.Count(static end => end.IsOpened));
        cluster.Simulation.RunAsync(leaves.LeaveAsync, TimeSpan.FromSeconds(5));
        Assert.True(cluster.Settle());
        var asked = Assert.Single(stays.SimNode.Links.Ends, static end => end.IsOpened);
        Assert.Equal(cluster[1].SimNode.Id, asked.NodeId);
        Assert.DoesNotContain(leaves.SimNode.Links.Ends, static end => end.IsOpened);
        Assert.All(stays.SimNode.Links.Ends, static end => Assert.True(end.Connected));
    }
}
