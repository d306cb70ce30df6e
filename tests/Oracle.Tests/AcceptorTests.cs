namespace Oracle.Tests;

/// <summary>Rule A5 keeps silent members in the system, and with them everything that waits for them. So no single process can decide that a group is under this rule.</summary>
public sealed class AcceptorTests
{
    [Fact]
    public void A_group_with_other_acceptors_than_the_Oracle_itself_has_is_refused()
    {
        using var cluster = new OracleCluster(1, 4, shape: (node, plain) => node.Name == "p3" ? plain with { Acceptors = 1 } : plain);
        foreach (var process in cluster.Lives) process.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.TrueForAll(process => process.Oracle.State == GroupCore.Membership.MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var (other, victim) = (cluster[3], cluster[1]);
        other.Node.Post(() => other.Oracle.Join("joined", new(), ""));
        other.Node.Post(() => other.Oracle.Create("created", new(), [victim.Oracle.Self]));
        Assert.True(cluster.RunUntil(() => other.Groups.Refused.Count == 2, 5), cluster.Describe());
        Assert.All(other.Groups.Refused, reason => Assert.Contains("acceptors", reason, StringComparison.Ordinal));
        Assert.Empty(cluster.Leader!.Oracle.Replica!.State.Groups);

        // The victim is silent, and nothing proves it dead. No group is under A5, so it is excluded like any other.
        victim.Node.Pause(TimeSpan.FromSeconds(8));
        Assert.True(cluster.RunUntil(() => !cluster.Leader!.Oracle.Replica!.State.IsAlive(victim.Oracle.Self), 5), cluster.Describe());
        cluster.AssertNoViolations();
    }
}
