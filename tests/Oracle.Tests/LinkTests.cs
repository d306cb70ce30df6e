using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>A process keeps nothing of those it outlived (failure-detection.md#links-to-dead-processes-are-let-go).</summary>
public sealed class LinkTests
{
    private const int Comers = 50;

    /// <summary>Half of them die while their host answers for them, half silently. Each is another node.</summary>
    [Fact]
    public void After_50_joins_and_kills_a_survivor_has_links_to_those_that_live_only()
    {
        using var cluster = new OracleCluster(9, 3 + Comers);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new GroupOptions(), ""));
        for (int i = 0; i < 3; i++) cluster[i].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => IsSettled(cluster, 3), 10), cluster.Describe());
        for (int i = 3; i < 3 + Comers; i++)
        {
            cluster[i].StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => IsSettled(cluster, 4), 10), cluster.Describe());
            cluster[i].Node.Crash(hostAnswers: i % 2 == 0);
            Assert.True(cluster.RunUntil(() => IsSettled(cluster, 3), 10), cluster.Describe());
        }
        // A process that fell silent may be behind a cut, so its link is kept as long as it could come back.
        cluster.Run(65);
        for (int i = 0; i < 3; i++) Assert.Equal(2, cluster[i].Node.Links.Ends.Count(end => !end.IsClosed));
        cluster.AssertNoViolations();
    }

    /// <summary>When the host refuses dials, the fate of the process is known, and nothing that is queued for it is kept any longer.</summary>
    [Fact]
    public void The_link_to_a_process_whose_host_refuses_goes_with_its_exclusion()
    {
        using var cluster = new OracleCluster(9, 3 + 10);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new GroupOptions(), ""));
        for (int i = 0; i < 3; i++) cluster[i].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => IsSettled(cluster, 3), 10), cluster.Describe());
        for (int i = 3; i < 3 + 10; i++)
        {
            cluster[i].StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => IsSettled(cluster, 4), 10), cluster.Describe());
            cluster.Run(1);
            cluster[i].Node.Crash(hostAnswers: true);
            Assert.True(cluster.RunUntil(() => IsSettled(cluster, 3), 10), cluster.Describe());
        }
        cluster.Run(3);
        // The leader tells the last process of its exclusion for a while. If a lease grant dropped the process before its exclusion was known, its link stays for a minute.
        for (int i = 0; i < 3; i++) Assert.InRange(cluster[i].Node.Links.Ends.Count(end => !end.IsClosed), 2, 4);
    }

    /// <summary>The leavers depart, but their nodes and connections stay up. To their former watchers and leaders, their links then count as guests' links.</summary>
    [Fact]
    public void After_50_joins_and_departures_a_survivor_asks_for_no_links_but_to_those_that_stayed()
    {
        using var cluster = new OracleCluster(9, 3 + Comers);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new GroupOptions(), ""));
        for (int i = 0; i < 3; i++) cluster[i].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => IsSettled(cluster, 3), 10), cluster.Describe());
        for (int i = 3; i < 3 + Comers; i++)
        {
            var comer = cluster[i];
            comer.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => IsSettled(cluster, 4), 10), cluster.Describe());
            cluster.Run(1);
            comer.Node.Post(comer.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => comer.Oracle.State == MembershipState.Excluded && IsSettled(cluster, 3), 10), cluster.Describe());
        }
        cluster.Run(5);
        for (int i = 0; i < 3; i++) Assert.Equal(2, cluster[i].Node.Links.Ends.Count(end => end is { IsOpened: true, IsOver: false }));
        cluster.AssertNoViolations();
    }

    /// <summary>The excluded process votes until it is replaced, and every configuration until then names it. The leader tells it of its exclusion for another second.</summary>
    [Fact]
    public void A_replica_asks_for_no_link_to_a_voter_that_was_excluded()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = new OracleCluster(seed, 14);
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
            cluster.Run(2);
            var leader = cluster.Leader!;
            var lost = cluster.Alive.Last(process => process != leader && leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id));
            var others = cluster.Alive.Where(process => process != lost).ToList();
            cluster.Simulation.Network.Partition([lost.Node], others.ConvertAll(process => process.Node));
            Assert.True(cluster.RunUntil(() => !leader.Oracle.Replica!.Log.Entries.ConfigurationAt(leader.Oracle.Replica.Log.Commit).Contains(lost.Node.Id), 10), cluster.Describe());
            cluster.Run(2);
            foreach (var other in others.Where(other => other != leader && other.Oracle.Replica is not null))
                Assert.DoesNotContain(other.Node.Links.Ends, end => end is { IsOpened: true, IsOver: false } && end.NodeId == lost.Node.Id);
            cluster.AssertNoViolations();
        }
    }

    /// <summary>Otherwise strangers that take all places for guests could push a process of the system out.</summary>
    [Fact]
    public void The_leader_vouches_for_the_processes_of_its_system_and_for_no_stranger()
    {
        using var cluster = new OracleCluster(9, 3);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new GroupOptions(), ""));
        for (int i = 0; i < 3; i++) cluster[i].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => IsSettled(cluster, 3), 10), cluster.Describe());
        var stranger = cluster.Simulation.AddNode();
        stranger.Post(() =>
        {
            for (int i = 0; i < 3; i++) stranger.Node.Links.Open(cluster[i].Node.Address);
        });
        cluster.Run(5);
        int Vouched(int at) => cluster[at].Node.Links.Ends.Count(static end => end.IsVouched);
        Assert.Contains(2, new[] { Vouched(0), Vouched(1), Vouched(2) });
        for (int i = 0; i < 3; i++) Assert.DoesNotContain(cluster[i].Node.Links.Ends, end => end.NodeId == stranger.Id && end.IsVouched);
    }

    /// <summary>Other nodes may dial in and be gone again before membership begins.</summary>
    [Fact]
    public void Links_that_came_and_went_before_the_start_are_not_kept()
    {
        using var cluster = new OracleCluster(9, 3);
        var one = cluster[0];
        for (int i = 1; i < 3; i++)
        {
            var other = cluster[i].Node;
            other.Post(() => other.Node.Links.Open(one.Node.Address));
        }
        Assert.True(cluster.RunUntil(() => one.Oracle.Reached == 2, 1), $"{one.Oracle.Reached} links");
        cluster.Run(0.1);
        cluster[1].Node.Crash();
        cluster.Run(1);
        Assert.Equal(1, one.Oracle.Reached);
        one.StartAt(TimeSpan.Zero);
        cluster.Run(1);
        Assert.Equal(1, one.Oracle.Reached);
    }

    private static bool IsSettled(OracleCluster cluster, int members) =>
        Enumerable.Range(0, 3).All(i => cluster[i].Groups.ViewOf("g")?.Members.Count == members && !cluster[i].Groups.IsWedged);
}
