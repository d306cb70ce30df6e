using GroupCore.Membership;
using Ida.Testing;

namespace Oracle.Tests;

/// <summary>A process that departs is gone soon, whatever it missed meanwhile (failure-detection.md#proof-of-death).</summary>
public sealed class DepartureTests
{
    /// <summary>
    /// The process is a voter. It is removed from the voters during a short cut in which the leader also changes, so no leader updates its copy of the log any more. It learns
    /// who votes only from the answer to its question for a lease. Found by seed 663 of the groups campaign.
    /// </summary>
    [Fact]
    public void A_voter_that_departs_and_misses_that_it_votes_no_longer_is_gone_soon()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = new OracleCluster(seed, 5);
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
            cluster.Run(3);
            var leader = cluster.Leader!;
            var one = cluster.Alive.First(process => process != leader && leader.Oracle.Replica!.Log.IsVoter && IsVoter(leader, process));
            one.Node.Post(one.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => leader.Oracle.Replica!.State.Find(one.Oracle.Self)!.Status == State.ProcessStatus.Leaving, 2), cluster.Describe());
            cluster.Simulation.Network.Partition([one.Node], cluster.Alive.Where(process => process != one).Select(process => process.Node).ToList());
            var configuration = () => leader.Oracle.Replica!.Log.Entries.ConfigurationAt(leader.Oracle.Replica.Log.Commit);
            Assert.True(cluster.RunUntil(() => !configuration().Contains(one.Node.Id) && configuration().Voters.Count == 3, 1), cluster.Describe());
            leader.Node.Crash();
            Assert.True(cluster.RunUntil(() => cluster.Leader is { } next && next != leader, 1), cluster.Describe());
            cluster.Simulation.Network.Heal();
            Assert.True(cluster.RunUntil(() => one.Oracle.State == MembershipState.Excluded, 8), cluster.Describe());
            Assert.Contains(one.Groups.Events, text => text.Contains("left", StringComparison.Ordinal));
        }
    }

    /// <summary>
    /// Without the departing voter only the leader and the silent one would vote, and nothing could be decided until the silent one answers. Found by seed 912 of the groups
    /// campaign.
    /// </summary>
    [Fact]
    public void A_voter_that_departs_while_another_is_silent_is_replaced_first()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = new OracleCluster(seed, 5);
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
            cluster.Run(3);
            var leader = cluster.Leader!;
            var voters = cluster.Alive.Where(process => process != leader && IsVoter(leader, process)).ToList();
            voters[0].Node.Pause(TimeSpan.FromSeconds(8));
            cluster.Run(1.2);
            voters[1].Node.Post(voters[1].Oracle.Depart);
            Assert.True(cluster.RunUntil(() => voters[1].Oracle.State == MembershipState.Excluded, 4), cluster.Describe());
            Assert.True(leader.Oracle.Replica!.Services.Active, cluster.Describe());
        }
    }

    /// <summary>
    /// The Oracle has just registered a second process, and the departing leader has not yet been told to watch it. If the leader took itself for the last process and ended,
    /// the second one would be left with nobody who can decide.
    /// </summary>
    [Fact]
    public void A_lone_leader_that_departs_hands_over_to_a_process_that_it_has_just_registered()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            var latency = TimeSpan.FromMilliseconds(60);
            using var cluster = new OracleCluster(seed, 2, link: new() { MinLatency = latency, MaxLatency = latency });
            var (first, second) = (cluster[0], cluster[1]);
            first.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => first.Oracle.State == MembershipState.Active, 5), cluster.Describe());
            cluster.Run(2);
            second.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => first.Oracle.Replica!.State.Processes.Count == 2, 5), cluster.Describe());
            first.Node.Post(first.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => first.Oracle.State == MembershipState.Excluded, 10), cluster.Describe());
            Assert.True(cluster.RunUntil(() => cluster.Leader == second, 2), cluster.Describe());
            cluster.Run(5);
            Assert.Equal(MembershipState.Active, second.Oracle.State);
        }
    }

    /// <summary>
    /// The leader can dial none of the processes that stay, so none of them would be believed as leader of other voters. As the only voter, one of them needs nobody to
    /// believe it, and otherwise nothing could be decided.
    /// </summary>
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void A_leader_that_departs_and_cannot_dial_those_that_stay_is_gone_soon_and_they_go_on(int processes)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = new OracleCluster(seed, processes);
            cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
            var first = cluster[0];
            foreach (var other in cluster.Lives.Skip(1)) first.Node.Links.Doubted.Add(other.Node.Address);
            foreach (var process in cluster.Lives) process.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == processes, 10), cluster.Describe());
            cluster.Run(3);
            Assert.Equal(first, cluster.Leader);
            first.Node.Post(first.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => first.Oracle.State == MembershipState.Excluded, 2), cluster.Describe());
            Assert.Contains(first.Groups.Events, text => text.Contains("left", StringComparison.Ordinal));
            first.Node.Crash();
            cluster.Run(5);
            Assert.True(cluster.Settled("g") && cluster.Leader is not null && cluster.Alive.Count() == processes - 1, cluster.Describe());
            cluster.AssertNoViolations();
        }
    }

    /// <summary>Before, the lead went first to the other departing voter, which handed it over again. That took two elections, and between them nothing was decided.</summary>
    [Fact]
    public void A_leader_that_departs_with_another_voter_does_not_hand_over_to_that_one()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = WithVoters(seed);
            var leader = cluster.Leader!;
            var next = NextVoter(cluster, leader);
            next.Node.Post(next.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => leader.Oracle.Replica!.State.Find(next.Oracle.Self)!.Status == State.ProcessStatus.Leaving || leader.Oracle.Replica.Log.Leading is null, 2), cluster.Describe());
            leader.Node.Post(leader.Oracle.Depart);
            bool led = false;
            Assert.True(cluster.RunUntil(() => (led |= next.Oracle.Replica!.Log.Leading is not null) || (leader.Oracle.State == MembershipState.Excluded && next.Oracle.State == MembershipState.Excluded), 8), cluster.Describe());
            Assert.False(led, cluster.Describe());
            cluster.Run(3);
            Assert.Equal(3, cluster.Alive.Count());
            Assert.NotNull(cluster.Leader);
        }
    }

    /// <summary>Before, the leader waited 0.6 s for the dead voter to take over, and wrote nothing to the log meanwhile.</summary>
    [Fact]
    public void A_leader_that_departs_just_after_another_voter_died_hands_over_to_one_that_lives()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = WithVoters(seed);
            var leader = cluster.Leader!;
            var dead = NextVoter(cluster, leader);
            var self = dead.Oracle.Self;
            dead.Node.Crash();
            Assert.True(cluster.RunUntil(() => !leader.Oracle.Replica!.State.IsAlive(self), 2), cluster.Describe());
            leader.Node.Post(leader.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => cluster.Leader is { } other && other != leader, 0.4), cluster.Describe());
        }
    }

    /// <summary>Neither of the two could be removed without the third. Before, each handed the lead to the other thousands of times, and nothing was decided meanwhile.</summary>
    [Fact]
    public void Two_voters_that_depart_while_the_third_is_silent_do_not_hand_the_lead_to_each_other()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = WithVoters(seed, 3);
            var leader = cluster.Leader!;
            var next = NextVoter(cluster, leader);
            var third = cluster.Alive.Single(process => process != leader && process != next);
            foreach (var other in new[] { leader, next }) cluster.Simulation.Network.Cut(other.Node, third.Node, CutMode.Drop);
            cluster.Run(1.5);
            ulong term = leader.Oracle.Replica!.Log.Term;
            leader.Node.Post(leader.Oracle.Depart);
            next.Node.Post(next.Oracle.Depart);
            cluster.Run(3);
            Assert.InRange(next.Oracle.Replica?.Log.Term ?? term, term, term + 2);
        }
    }

    /// <summary>
    /// Before, the leader waited for a successor twice, for each of the two, which took longer than a farewell lasts. The voter that stays was then left without a majority.
    /// </summary>
    [Fact]
    public void Two_voters_that_depart_while_no_other_can_take_their_place_are_out_within_a_farewell()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = WithVoters(seed);
            var leader = cluster.Leader!;
            var next = NextVoter(cluster, leader);
            var voters = leader.Oracle.Replica!.Log.Entries.Configuration.Voters;
            var stays = cluster.Alive.Single(process => process != leader && process != next && voters.Any(voter => voter.Node == process.Node.Id));
            foreach (var other in cluster.Alive.Where(process => !voters.Any(voter => voter.Node == process.Node.Id)))
                foreach (var leaver in new[] { leader, next }) cluster.Simulation.Network.Cut(leaver.Node, other.Node, CutMode.Drop);
            leader.Node.Post(leader.Oracle.Depart);
            next.Node.Post(next.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => !stays.Oracle.Replica!.Log.Entries.Configuration.Voters.Any(voter => voter.Node == leader.Node.Id || voter.Node == next.Node.Id), 3), cluster.Describe());
        }
    }

    private static OracleCluster WithVoters(ulong seed, int processes = 5)
    {
        var cluster = new OracleCluster(seed, processes);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }

    /// <summary>The first of the other voters.</summary>
    private static OracleCluster.Process NextVoter(OracleCluster cluster, OracleCluster.Process leader)
    {
        var next = leader.Oracle.Replica!.Log.Entries.Configuration.Voters.First(voter => voter.Node != leader.Node.Id);
        return cluster.Alive.Single(process => process.Node.Id == next.Node);
    }

    private static bool IsVoter(OracleCluster.Process leader, OracleCluster.Process process) =>
        leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id);
}
