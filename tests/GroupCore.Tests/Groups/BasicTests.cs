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
}
