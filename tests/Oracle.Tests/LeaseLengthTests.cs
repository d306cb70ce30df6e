using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>
/// Processes with leases of different lengths in one system, as while a change of the option is rolled out. A leader waits for the lease length of the excluded process, not
/// for its own (oracle.md#a-view-waits-for-the-leases-of-those-it-excludes).
/// </summary>
public sealed class LeaseLengthTests
{
    private static readonly TimeSpan Short = TimeSpan.FromSeconds(1), Long = TimeSpan.FromSeconds(3);

    [Fact]
    public void A_leader_of_short_leases_waits_for_the_long_lease_that_it_granted()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = Running(seed);
            var cut = cluster[3];
            cluster.Simulation.Network.Partition([cut.Node], [.. cluster.Alive.Where(process => process != cut).Select(process => process.Node)]);
            AssertSafe(cluster, goes: 1);
        }
    }

    /// <summary>The leader that granted the lease is gone, and with it what only it knew.</summary>
    [Fact]
    public void A_leader_of_short_leases_waits_for_the_long_lease_that_its_predecessor_granted()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = Running(seed);
            var (cut, leader) = (cluster[3], cluster.Leader!);
            cluster.Simulation.Network.Partition([cut.Node], [.. cluster.Alive.Where(process => process != cut).Select(process => process.Node)]);
            leader.Node.Crash();
            AssertSafe(cluster, goes: 2);
        }
    }

    /// <summary>The excluded process was the only member, so no record of the group is left. The name stays taken as long as the process may act.</summary>
    [Fact]
    public void The_name_of_a_lost_group_is_kept_for_the_long_lease_of_its_last_member()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = Running(seed);
            var cut = cluster[3];
            cut.Node.Post(() => cut.Oracle.Join("alone", new(), ""));
            Assert.True(cluster.RunUntil(() => cut.Groups.ViewOf("alone") is not null, 5), cluster.Describe());
            cluster.Simulation.Network.Partition([cut.Node], [.. cluster.Alive.Where(process => process != cut).Select(process => process.Node)]);
            if (seed % 2 == 0) cluster.Leader!.Node.Crash();
            Assert.True(cluster.RunUntil(() => cluster.Leader is { } next && next.Oracle.Replica!.State.Lost.Count > 0, 5), cluster.Describe());
            foreach (var other in cluster.Alive)
                if (other != cut) other.Node.Post(() => other.Oracle.Join("alone", new(), ""));
            Assert.True(cluster.RunUntil(() => cluster.Alive.Where(process => process != cut).All(process => process.Groups.ViewOf("alone") is not null), 10), cluster.Describe());
            cluster.AssertNoViolations();
        }
    }

    /// <summary>
    /// The way to the leader and back, with a round among the voters, takes a quarter of a second. That is longer than a question waits before it is repeated, also to another
    /// replica.
    /// </summary>
    [Fact]
    public void A_lease_that_takes_longer_to_be_granted_than_a_question_is_waited_for_is_held_all_the_same()
    {
        var latency = TimeSpan.FromMilliseconds(62);
        using var cluster = new OracleCluster(3, 5, link: new() { MinLatency = latency, MaxLatency = latency });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 15), cluster.Describe());
        cluster.Run(3);
        int without = 0;
        for (int sample = 0; sample < 600; sample++)
        {
            cluster.Run(0.1);
            without += cluster.Lives.Count(process => process.Oracle.LeaseUntil <= process.Node.Node.Now);
            Assert.All(cluster.Lives, process => Assert.Equal(MembershipState.Active, process.Oracle.State));
        }
        Assert.Equal(0, without);
    }

    /// <summary>A process learns from its lease grants which processes it must watch. So it asks more often than a long lease needs.</summary>
    [Theory]
    [InlineData(1, true)]
    [InlineData(60, true)]
    [InlineData(600, true)]
    [InlineData(600, false)]
    public void A_newcomer_that_falls_silent_is_out_within_seconds_however_long_leases_are(int seconds, bool crashes)
    {
        var lease = TimeSpan.FromSeconds(seconds);
        using var cluster = new OracleCluster(1, 6, options: new() { LeaseDuration = lease, IsolationTimeout = lease + Long });
        foreach (var process in cluster.Lives.Take(5)) process.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.Take(5).All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(10);
        var late = cluster[5];
        late.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => late.Oracle.State == MembershipState.Active, 10), cluster.Describe());
        cluster.Run(3);
        if (crashes) late.Node.Crash();
        else late.Node.Pause(TimeSpan.FromHours(1));
        Assert.True(cluster.RunUntil(() => !cluster.Leader!.Oracle.Replica!.State.IsAlive(late.Oracle.Self), 3), cluster.Describe());
    }

    private static void AssertSafe(OracleCluster cluster, int goes)
    {
        Assert.True(cluster.RunUntil(() => cluster.Lives.Take(3).Where(process => process.Node.Alive).All(process => process.Groups.ViewOf("g")?.Members.Count == 4 - goes), 10), cluster.Describe());
        cluster.Run(4);
        cluster.AssertNoViolations();
    }

    /// <summary>Three voters with short leases, and a fourth process with long ones.</summary>
    private static OracleCluster Running(ulong seed)
    {
        var cluster = new OracleCluster(seed, 4, shape: static (node, plain) => plain with { LeaseDuration = node.Name == "p3" ? Long : Short });
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        for (int i = 0; i < 4; i++)
        {
            cluster[i].StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster[i].Oracle.State == MembershipState.Active, 5), cluster.Describe());
        }
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        // So the lease is nearly new or old, depending on the seed.
        cluster.Run(1 + (0.05 * seed));
        return cluster;
    }
}
