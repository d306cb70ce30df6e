using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>A node that only bears the name of a replica is not believed (oracle.md#a-replica-is-believed-over-a-confirmed-link-only).</summary>
public sealed class DoubtedReplicaTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_exclusion_is_believed_over_a_confirmed_link_only(bool doubted)
    {
        using var cluster = Settled();
        var leader = cluster.Leader!;
        var victim = Victim(cluster);
        Doubt(victim, doubted);
        long refused = victim.Node.Node.Counters.Refused(RefusalReason.WrongSender);
        leader.Node.Post(() => new FrameSender(leader.Node.Node) { System = leader.Oracle.System }.Send(victim.Node.Id, victim.Node.Address, new ExcludedFrame(victim.Oracle.Self, "go")));
        cluster.Run(1);
        Assert.Equal(doubted ? MembershipState.Active : MembershipState.Excluded, victim.Oracle.State);
        Assert.Equal(doubted, victim.Node.Node.Counters.Refused(RefusalReason.WrongSender) > refused);
    }

    /// <summary>The leader still grants the process its leases, but the process does not believe them.</summary>
    [Fact]
    public void A_lease_is_believed_over_a_confirmed_link_only()
    {
        using var cluster = Settled();
        var victim = Victim(cluster);
        Doubt(victim, true);
        Assert.True(cluster.RunUntil(() => victim.Oracle.State == MembershipState.Blocked, 6), cluster.Describe());
        Doubt(victim, false);
        Assert.True(cluster.RunUntil(() => victim.Oracle.State == MembershipState.Active, 6), cluster.Describe());
    }

    /// <summary>The same goes for the view that it joins with, and for the news of who the replicas are.</summary>
    [Fact]
    public void A_view_is_believed_over_a_confirmed_link_only()
    {
        using var cluster = Settled();
        var victim = Victim(cluster);
        Doubt(victim, true);
        victim.Node.Post(() => victim.Oracle.Join("g", new(), ""));
        cluster.Run(2);
        Assert.Null(victim.Groups.ViewOf("g"));
        Doubt(victim, false);
        Assert.True(cluster.RunUntil(() => victim.Groups.ViewOf("g") is not null, 10), cluster.Describe());
    }

    /// <summary>
    /// Only this process cannot dial the leader; the leader can dial it. Processes that it can reach introduce the leader to it, and do so again for another connection.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_process_that_cannot_dial_the_leader_follows_it_when_others_introduce_it(bool votes)
    {
        using var cluster = Settled();
        var leader = cluster.Leader!;
        var one = votes ? cluster.Alive.Last(process => process != leader && process.Oracle.Replica is not null) : Victim(cluster);
        one.Node.Links.Doubted.Add(leader.Node.Address);
        cluster.Run(1);
        for (int second = 0; second < 20; second++)
        {
            cluster.Run(1);
            Assert.Equal(MembershipState.Active, one.Oracle.State);
        }
        one.Node.Post(() => one.Oracle.Join("g", new(), ""));
        Assert.True(cluster.RunUntil(() => one.Groups.ViewOf("g") is not null, 3), cluster.Describe());
        // The connection breaks, and the node at the next connection is in doubt again.
        cluster.Simulation.Network.Break(one.Node, leader.Node);
        cluster.Run(5);
        Assert.Equal(MembershipState.Active, one.Oracle.State);
        cluster.AssertNoViolations();
    }

    /// <summary>The hidden process votes, since it could be dialled once. It would not be believed as leader, so it does not become leader, and the others go on.</summary>
    [Fact]
    public void A_voter_that_nobody_can_dial_does_not_lead()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var cluster = Settled(seed);
            var leader = cluster.Leader!;
            var hidden = cluster.Alive.First(process => process != leader && leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id));
            foreach (var other in cluster.Alive.Where(other => other != hidden)) other.Node.Links.Doubted.Add(hidden.Node.Address);
            leader.Node.Crash();
            cluster.Run(10);
            Assert.True(cluster.Alive.Count() == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
        }
    }

    /// <summary>
    /// The leader, which had introduced one voter to the other, dies. The voter that cannot be dialled has the longer log, so only it can lead. Found by seed 6200023 of
    /// oracle-surface.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_voter_that_was_introduced_leads_with_the_vote_of_one_that_cannot_dial_it(bool all)
    {
        using var cluster = Settled();
        var leader = cluster.Leader!;
        var voters = cluster.Alive.Where(process => process != leader && leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id)).ToList();
        var (next, behind) = (voters[0], voters[1]);
        var joins = cluster.Alive.First(process => process != leader && process != next && process != behind);
        behind.Node.Links.Doubted.Add(next.Node.Address);
        // Here the process that joins cannot dial the new leader either. The voter that elected it introduces it, having itself got an introduction before.
        if (all) joins.Node.Links.Doubted.Add(next.Node.Address);
        cluster.Run(3);
        cluster.Simulation.Network.Cut(leader.Node, behind.Node, CutMode.Hold);
        joins.Node.Post(() => joins.Oracle.Join("g", new(), ""));
        Assert.True(cluster.RunUntil(() => next.Oracle.Replica!.Log.Entries.LastIndex > behind.Oracle.Replica!.Log.Entries.LastIndex, 3), cluster.Describe());
        leader.Node.Crash();
        Assert.True(cluster.RunUntil(() => cluster.Leader == next, 10), cluster.Describe());
        cluster.Run(5);
        Assert.All(cluster.Alive, static process => Assert.Equal(MembershipState.Active, process.Oracle.State));
        cluster.AssertNoViolations();
    }

    /// <summary>Only the leader can dial the hidden voter, and the leader dies. The other voter has the same log and can be dialled by all, so it must lead.</summary>
    [Fact]
    public void The_voter_that_the_others_can_dial_leads_when_two_voters_have_the_same_log()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var cluster = Settled(seed, 5);
            var leader = cluster.Leader!;
            var hidden = cluster.Alive.First(process => process != leader && IsVoter(leader, process));
            var other = cluster.Alive.First(process => process != leader && process != hidden && IsVoter(leader, process));
            foreach (var one in cluster.Alive.Where(one => one != leader && one != hidden)) one.Node.Links.Doubted.Add(hidden.Node.Address);
            cluster.Run(3);
            leader.Node.Crash();
            Assert.True(cluster.RunUntil(() => cluster.Leader is not null, 10), cluster.Describe());
            cluster.Run(10);
            Assert.True(cluster.Leader == other && cluster.Alive.Count() == 4 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
            cluster.AssertNoViolations();
        }
    }

    /// <summary>All lose their links to the leader, and nobody can dial it any more. A process that was once told who the leader is must not introduce it from memory.</summary>
    [Fact]
    public void A_process_that_has_lost_the_link_to_a_leader_that_was_introduced_does_not_introduce_it_to_others()
    {
        using var cluster = Settled();
        var leader = cluster.Leader!;
        var others = cluster.Alive.Where(process => process != leader).ToList();
        var dials = others.First(process => IsVoter(leader, process));
        foreach (var one in others.Where(one => one != dials)) one.Node.Links.Doubted.Add(leader.Node.Address);
        cluster.Run(5);
        Assert.Equal(leader, cluster.Leader);
        dials.Node.Links.Doubted.Add(leader.Node.Address);
        foreach (var one in others) cluster.Simulation.Network.Break(one.Node, leader.Node);
        cluster.Run(10);
        Assert.True(cluster.Leader is { } next && next != leader, cluster.Describe());
        Assert.All(cluster.Alive, static process => Assert.Equal(MembershipState.Active, process.Oracle.State));
    }

    /// <summary>The hidden process is the first of the remaining voters. It was introduced to the leader, which cannot dial it; others might not reach it either.</summary>
    [Fact]
    public void A_leader_that_departs_hands_over_to_a_voter_that_it_can_dial()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = Settled(seed);
            var leader = cluster.Leader!;
            ulong first = leader.Oracle.Replica!.Log.Entries.Configuration.Voters.First(voter => voter.Node != leader.Node.Id).Node;
            var hidden = cluster.Alive.Single(process => process.Node.Id == first);
            leader.Node.Links.Doubted.Add(hidden.Node.Address);
            cluster.Run(3);
            Assert.Equal(leader, cluster.Leader);
            leader.Node.Post(leader.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => leader.Oracle.State == MembershipState.Excluded, 10), cluster.Describe());
            Assert.True(cluster.RunUntil(() => cluster.Leader is not null, 5), cluster.Describe());
            Assert.NotEqual(hidden, cluster.Leader);
        }
    }

    /// <summary>The voter that introduced the other voter to the leader dies as the leader leaves. Found by seed 41901127 of oracle-surface.</summary>
    [Fact]
    public void A_leader_that_departs_hands_over_to_one_that_was_introduced_when_there_is_no_other_voter()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = Settled(seed, 5);
            var leader = cluster.Leader!;
            var voters = cluster.Alive.Where(process => process != leader && IsVoter(leader, process)).ToList();
            leader.Node.Links.Doubted.Add(voters[0].Node.Address);
            cluster.Run(3);
            Assert.Equal(leader, cluster.Leader);
            voters[1].Node.Crash();
            leader.Node.Post(leader.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => leader.Oracle.State == MembershipState.Excluded, 10), cluster.Describe());
            cluster.Run(5);
            Assert.All(cluster.Alive, static process => Assert.Equal(MembershipState.Active, process.Oracle.State));
        }
    }

    /// <summary>A probe of a process that cannot be dialled fails while the introduced connection is still up. The introduction lasts until that connection breaks.</summary>
    [Fact]
    public void An_introduction_outlives_a_probe_that_fails_and_not_the_connection()
    {
        using var cluster = Settled();
        var leader = cluster.Leader!;
        var one = Victim(cluster);
        one.Node.Links.Doubted.Add(leader.Node.Address);
        cluster.Run(3);
        var links = one.Node.Links;
        long refused = Refused();
        for (int probe = 0; probe < 20; probe++)
        {
            one.Node.Post(() => links.Probe(links.Open(leader.Node.Address, leader.Node.Id)));
            cluster.Run(0.5);
        }
        Assert.Equal(refused, Refused());
        cluster.Simulation.Network.Break(one.Node, leader.Node);
        cluster.Run(5);
        Assert.NotEqual(refused, Refused());
        Assert.Equal(MembershipState.Active, one.Oracle.State);

        long Refused() => one.Node.Node.Counters.Refused(RefusalReason.WrongSender);
    }

    /// <summary>The hidden process is the second oldest and on a host of its own, so otherwise it would be the next voter.</summary>
    [Fact]
    public void A_process_that_the_leader_cannot_dial_is_no_replica_and_keeps_no_other_from_being_one()
    {
        using var cluster = new OracleCluster(92, 4);
        var hidden = cluster[1];
        foreach (var other in cluster.Lives.Where(other => other != hidden)) other.Node.Links.Doubted.Add(hidden.Node.Address);
        cluster[0].StartAt(TimeSpan.Zero);
        hidden.StartAt(TimeSpan.FromSeconds(2));
        cluster[2].StartAt(TimeSpan.FromSeconds(4));
        cluster[3].StartAt(TimeSpan.FromSeconds(4));
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 20), cluster.Describe());
        Assert.False(cluster.Leader!.Oracle.Replica!.Log.Entries.Configuration.Contains(hidden.Node.Id), cluster.Describe());
    }

    /// <summary>The process never could dial the leader, and the leader is the only voter when the process starts.</summary>
    [Fact]
    public void A_process_that_comes_and_cannot_dial_the_leader_is_registered_when_others_introduce_it()
    {
        using var cluster = new OracleCluster(95, 5);
        cluster[2].Node.Links.Doubted.Add(cluster[0].Node.Address);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.TrueForAll(process => process.Oracle.State == MembershipState.Active), 20), cluster.Describe());
    }

    /// <summary>The learner can no longer dial the leader. The leader is the only voter, so nobody can introduce it to the learner.</summary>
    [Fact]
    public void A_learner_that_cannot_confirm_the_leader_keeps_no_other_from_voting()
    {
        using var cluster = new OracleCluster(94, 4);
        cluster[0].StartAt(TimeSpan.Zero);
        cluster[1].StartAt(TimeSpan.FromSeconds(1.5));
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Learners.Count == 1, 10), cluster.Describe());
        cluster.Run(1);
        cluster[1].Node.Links.Doubted.Add(cluster[0].Node.Address);
        cluster.Run(2);
        cluster[2].StartAt(TimeSpan.Zero);
        cluster[3].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 8), cluster.Describe());
        // The new voters introduce the leader.
        Assert.True(cluster.RunUntil(() => cluster.Alive.Count() == 4 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 8), cluster.Describe());
    }

    private static bool IsVoter(OracleCluster.Process leader, OracleCluster.Process process) => leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id);

    private static OracleCluster Settled(ulong seed = 91, int processes = 4)
    {
        var cluster = new OracleCluster(seed, processes);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }

    /// <summary>A process that is no replica; replicas decide for themselves.</summary>
    private static OracleCluster.Process Victim(OracleCluster cluster) => cluster.Alive.Single(process => process.Oracle.Replica is null);

    private static void Doubt(OracleCluster.Process process, bool doubted)
    {
        foreach (var end in process.Node.Links.Ends) end.IsDoubted = doubted;
    }
}
