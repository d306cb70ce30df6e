namespace GroupCore.Tests.Groups;

/// <summary>What one member has delivered and another lacks must still exist when a view change asks for it: multicast.md#only-stable-messages-are-dropped.</summary>
public sealed class KeptUntilStableTests
{
    private static (GroupCluster Cluster, List<TestMember> ByRank) Settled(ulong seed)
    {
        var cluster = new GroupCluster(seed, 4);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return (cluster, [.. cluster.Members.OrderBy(m => m.Group!.Rank)]);
    }

    private static void Fail(GroupCluster cluster, TestMember member)
    {
        member.Crash();
        cluster.Oracle.Fail(member.Membership);
        Assert.True(cluster.Settle(), string.Join("; ", cluster.Usable.Select(m => m.Group!.Protocol)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>Rank 2 lacks a message of rank 3, which is gone.</summary>
    [Fact]
    public void A_message_is_kept_for_a_member_that_has_not_acknowledged_it()
    {
        var (cluster, rank) = Settled(161);
        using var _ = cluster;
        cluster.Simulation.Network.Cut(rank[3].SimNode, rank[2].SimNode);
        cluster.Simulation.Spawn(() => rank[3].SendAsync(ordered: false));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.Equal(3, cluster.Checker.Deliveries);
        Fail(cluster, rank[3]);
        Assert.Equal(4, cluster.Checker.Deliveries);
    }

    /// <summary>Rank 1 alone has heard from the sequencer, which is gone, that rank 3's message comes before rank 2's.</summary>
    [Fact]
    public void A_position_is_kept_for_members_that_have_not_acknowledged_it()
    {
        var (cluster, rank) = Settled(162);
        using var _ = cluster;
        foreach (int deaf in new[] { 2, 3 }) cluster.Simulation.Network.Cut(rank[0].SimNode, rank[deaf].SimNode);
        foreach (int sender in new[] { 3, 2 })
        {
            cluster.Simulation.Spawn(() => rank[sender].SendAsync(ordered: true));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(250));
        }
        Assert.Equal(4, cluster.Checker.Deliveries);
        Fail(cluster, rank[0]);
        Assert.Equal(8, cluster.Checker.Deliveries);
    }
}
