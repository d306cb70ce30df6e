using GroupCore.Membership;
using Ida.Testing;

namespace Oracle.Tests;

/// <summary>Behaviours of the Oracle that need no random schedule (oracle.md#when-things-fail, failure-detection.md#when-things-fail).</summary>
public sealed class DirectedTests
{
    private static readonly GroupOptions Options = new();

    [Theory]
    [InlineData(1ul)]
    [InlineData(2ul)]
    [InlineData(3ul)]
    public void B14_the_leader_dies_during_a_hundred_joins_all_complete_and_none_twice(ulong seed)
    {
        using var cluster = Running(seed, 5);
        foreach (string group in Enumerable.Range(0, 20).Select(number => $"many{number}"))
            foreach (var process in cluster.Alive)
                process.Node.Post(() => process.Oracle.Join(group, Options, ""));
        cluster.Run(0.001 * cluster.Simulation.Random.Next(5, 60));
        cluster.Leader!.Node.Crash();
        Assert.True(cluster.RunUntil(() => Enumerable.Range(0, 20).All(group => cluster.Settled($"many{group}")), 15), cluster.Describe());
        // An answer that died with the leader is asked for again within a second.
        cluster.Run(1.5);
        Assert.All(cluster.Alive, process => Assert.Equal(20, process.Groups.Accepted.Count(accepted => accepted.Name != "g")));
        cluster.AssertNoViolations();
    }

    /// <summary>With the options that make a pause of one second harmless.</summary>
    [Theory]
    [InlineData(1ul)]
    [InlineData(2ul)]
    public void B16_with_rounds_of_half_a_second_a_pause_of_one_second_evicts_nobody_one_of_eight_does_and_ends_excluded(ulong seed) =>
        PauseTwice(seed, new() { ProbeInterval = TimeSpan.FromMilliseconds(500), ProbeRounds = 3, LeaseDuration = TimeSpan.FromSeconds(2) }, TimeSpan.FromSeconds(1), evictedWithin: 4);

    /// <summary>With the defaults a stalled process has less time, so that a dead process costs the others only about a second.</summary>
    [Theory]
    [InlineData(1ul)]
    [InlineData(2ul)]
    [InlineData(3ul)]
    [InlineData(4ul)]
    public void B16_with_the_defaults_a_pause_of_half_a_second_evicts_nobody_one_of_eight_does_and_ends_excluded(ulong seed) =>
        PauseTwice(seed, new(), TimeSpan.FromSeconds(0.5), evictedWithin: 2.5);

    /// <summary>
    /// First, short pauses of one process, which change no view. Then a pause of 8 s: the process is excluded in time, never acts after it resumes, and learns within a second
    /// that it is excluded.
    /// </summary>
    private static void PauseTwice(ulong seed, OracleOptions options, TimeSpan harmless, double evictedWithin)
    {
        using var cluster = Running(seed, 5, options);
        var one = cluster.Alive.Last(process => process != cluster.Leader);
        ulong view = cluster[0].Groups.ViewOf("g")!.Id;
        for (int times = 0; times < 5; times++)
        {
            one.Node.Pause(harmless);
            cluster.Run(harmless.TotalSeconds + 1.3);
        }
        Assert.True(cluster.Settled("g") && cluster.Alive.Count() == 5 && cluster[0].Groups.ViewOf("g")!.Id == view, cluster.Describe());

        var others = cluster.Alive.Where(process => process != one).ToList();
        var stopped = cluster.Simulation.Now;
        one.Node.Pause(TimeSpan.FromSeconds(8));
        Assert.True(cluster.RunUntil(() => others.TrueForAll(other => other.Groups.ViewOf("g")?.Members.Count == 4), evictedWithin), cluster.Describe());
        cluster.Simulation.Run(stopped + TimeSpan.FromSeconds(8) - cluster.Simulation.Now);
        // Reads and calls of a primary member look at the lease before they do anything.
        bool acts = false, over = cluster.RunUntil(() =>
        {
            acts |= one.Oracle.State == MembershipState.Active && one.Oracle.LeaseUntil > one.Node.Node.Clock();
            return one.Oracle.State == MembershipState.Excluded;
        }, 1);
        Assert.True(over && !acts, $"acts: {acts}; {cluster.Describe()}");
        cluster.AssertNoViolations();
    }

    [Fact]
    public void B4_after_a_split_two_to_three_the_majority_goes_on_and_the_minority_blocks_and_is_excluded_after_healing()
    {
        using var cluster = Running(4, 5);
        var voters = cluster.Leader!.Oracle.Replica!.Log.Entries.Configuration.Voters;
        var minority = cluster.Alive.Where(process => !voters.Any(voter => voter.Node == process.Node.Id)).ToList();
        var majority = cluster.Alive.Except(minority).ToList();
        Assert.Equal(2, minority.Count);
        cluster.Simulation.Network.Partition(minority.ConvertAll(p => p.Node), majority.ConvertAll(p => p.Node));
        Assert.True(cluster.RunUntil(() => majority.TrueForAll(process => process.Groups.ViewOf("g")?.Members.Count == 3), 5), cluster.Describe());
        Assert.True(cluster.RunUntil(() => minority.TrueForAll(process => process.Oracle.State == MembershipState.Blocked), 4), cluster.Describe());
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => minority.TrueForAll(process => process.Oracle.State == MembershipState.Excluded), 3), cluster.Describe());
        cluster.AssertNoViolations();
    }

    [Fact]
    public void B5_a_split_without_a_majority_blocks_all_and_healing_changes_no_view()
    {
        using var cluster = Running(5, 5);
        ulong view = cluster[0].Groups.ViewOf("g")!.Id;
        cluster.Simulation.Network.Partition([.. cluster.Alive.Select(process => new[] { process.Node })]);
        Assert.True(cluster.RunUntil(() => cluster.Alive.All(process => process.Oracle.State == MembershipState.Blocked), 5), cluster.Describe());
        cluster.Run(15);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 10), cluster.Describe());
        Assert.Equal((5, view), (cluster.Alive.Count(), cluster[0].Groups.ViewOf("g")!.Id));
        cluster.AssertNoViolations();
    }

    /// <summary>
    /// The leader leads until it has not heard a majority for a second, and suspicions of the others reach it before that. It must append no exclusion to its log on their
    /// account, since the exclusion would come into force when the cut heals.
    /// </summary>
    [Fact]
    public void B5_a_leader_that_is_cut_off_from_the_majority_decides_against_nobody()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = Running(seed, 5);
            ulong view = cluster[0].Groups.ViewOf("g")!.Id;
            var leader = cluster.Leader!;
            var voters = leader.Oracle.Replica!.Log.Entries.Configuration.Voters;
            var others = cluster.Alive.Where(process => process != leader && voters.Any(voter => voter.Node == process.Node.Id)).ToList();
            var rest = cluster.Alive.Where(process => process != leader && !others.Contains(process)).ToList();
            cluster.Simulation.Network.Partition([leader.Node, rest[0].Node], [others[0].Node, rest[1].Node], [others[1].Node]);
            Assert.True(cluster.RunUntil(() => cluster.Alive.All(process => process.Oracle.State == MembershipState.Blocked), 6), cluster.Describe());
            cluster.Run(10);
            cluster.Simulation.Network.Heal();
            Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 10), cluster.Describe());
            cluster.Run(3);
            Assert.True(cluster.Settled("g") && cluster.Alive.Count() == 5 && cluster[0].Groups.ViewOf("g")!.Id == view, cluster.Describe());
            cluster.AssertNoViolations();
        }
    }

    [Fact]
    public void B15_without_a_majority_of_voters_no_view_comes_and_all_are_excluded_within_65_seconds()
    {
        using var cluster = Running(6, 5);
        var voters = cluster.Leader!.Oracle.Replica!.Log.Entries.Configuration.Voters;
        int views = cluster.Checker.Views.Count;
        foreach (var voter in voters.Take(2)) cluster.Alive.First(process => process.Node.Id == voter.Node).Node.Crash();
        Assert.True(cluster.RunUntil(() => !cluster.Alive.Any(), 70), cluster.Describe());
        Assert.True(cluster.Simulation.Now > TimeSpan.FromSeconds(58));
        Assert.Equal(views, cluster.Checker.Views.Count);
    }

    [Fact]
    public void The_founder_departs_from_two_and_the_other_carries_on()
    {
        using var cluster = Running(7, 2);
        var (founder, other) = (cluster[0], cluster[1]);
        founder.Node.Post(founder.Oracle.Depart);
        Assert.True(cluster.RunUntil(() => founder.Oracle.State == MembershipState.Excluded, 10), cluster.Describe());
        founder.Node.Crash();
        cluster.Run(5);
        Assert.Equal(MembershipState.Active, other.Oracle.State);
        other.Node.Post(() => other.Oracle.Join("next", Options, ""));
        Assert.True(cluster.RunUntil(() => cluster.Settled("next"), 5), cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>The process is queued at a group whose view change takes long. If it departs first, no view will ever say that it left.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_process_that_departs_while_it_waits_to_join_is_gone_soon(bool leavesFirst)
    {
        using var cluster = Running(9, 4);
        foreach (var process in cluster.Alive) process.Groups.LongestDelay = 20 * Durations.Second;
        var (first, second) = (cluster[2], cluster[3]);
        cluster[0].Node.Post(() => cluster[0].Oracle.Join("slow", Options, ""));
        cluster.Run(0.1);
        first.Node.Post(() => first.Oracle.Join("slow", Options, ""));
        cluster.Run(0.1);
        second.Node.Post(() => second.Oracle.Join("slow", Options, ""));
        cluster.Run(0.1);
        if (leavesFirst) second.Node.Post(() => second.Oracle.Leave(second.Groups.Accepted.Last().Group));
        else second.Node.Post(() => second.Oracle.Leave(second.Groups.ViewOf("g")!.Group));
        foreach (var process in cluster.Alive) process.Groups.LongestDelay = 3 * Durations.Millisecond;
        cluster.Run(0.1);
        second.Node.Post(second.Oracle.Depart);
        Assert.True(cluster.RunUntil(() => second.Oracle.State == MembershipState.Excluded, 8), cluster.Describe());
        Assert.Equal(3, cluster.Alive.Count());
    }

    /// <summary>All replicas that the process knew died while it was cut off. It asks the seeds, and learns that it is excluded.</summary>
    [Fact]
    public void A_process_whose_replicas_have_all_been_replaced_learns_it_from_a_seed()
    {
        using var cluster = Running(8, 5);
        var lost = cluster.Alive.Last(process => !cluster.Leader!.Oracle.Replica!.Log.Entries.Configuration.Voters.Any(voter => voter.Node == process.Node.Id));
        cluster.Simulation.Network.Partition([lost.Node], [.. cluster.Alive.Where(process => process != lost).Select(process => process.Node)]);
        foreach (var old in cluster.Alive.Where(process => process != lost).ToList())
        {
            old.Node.Crash();
            cluster.Run(6);
            var next = cluster.Restart(old);
            cluster.Simulation.Network.Cut(lost.Node, next.Node);
            cluster.Simulation.Network.Cut(next.Node, lost.Node);
            next.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => next.Oracle.State == MembershipState.Active, 10), cluster.Describe());
            cluster.Run(3);
        }
        Assert.Equal(MembershipState.Blocked, lost.Oracle.State);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => lost.Oracle.State == MembershipState.Excluded, 5), cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>Processes that are cut off together with the only seed know the others only by lives that are over. They ask at the addresses of those lives.</summary>
    [Fact]
    public void Processes_that_are_cut_off_with_the_only_seed_learn_that_they_are_out_though_all_others_have_begun_new_lives()
    {
        using var cluster = Running(10, 5);
        var leader = cluster.Leader!;
        Assert.Equal(cluster[0], leader);
        var other = cluster.Alive.Last(process => !leader.Oracle.Replica!.Log.Entries.Configuration.Voters.Any(voter => voter.Node == process.Node.Id));
        List<OracleCluster.Process> lost = [leader, other];
        var left = cluster.Alive.Except(lost).ToList();
        cluster.Simulation.Network.Partition(lost.ConvertAll(process => process.Node), left.ConvertAll(process => process.Node));
        cluster.Run(6);
        foreach (var old in left)
        {
            old.Node.Crash();
            cluster.Run(3);
            var next = cluster.Restart(old);
            foreach (var one in lost)
            {
                cluster.Simulation.Network.Cut(one.Node, next.Node);
                cluster.Simulation.Network.Cut(next.Node, one.Node);
            }
            next.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => next.Oracle.State == MembershipState.Active, 10), cluster.Describe());
            cluster.Run(3);
        }
        Assert.All(lost, one => Assert.Equal(MembershipState.Blocked, one.Oracle.State));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => lost.TrueForAll(one => one.Oracle.State == MembershipState.Excluded), 5), cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>In its own log the process remains a voter for ever. The nodes that now listen at the addresses of the other voters tell it that it is excluded.</summary>
    [Fact]
    public void A_voter_that_was_cut_off_learns_that_it_is_out_though_the_other_voters_have_begun_new_lives()
    {
        using var cluster = Running(11, 3);
        var lost = cluster[2];
        Assert.True(lost.Oracle.Replica!.Log.IsVoter);
        List<OracleCluster.Process> left = [cluster[0], cluster[1]];
        cluster.Simulation.Network.Partition(CutMode.Drop, [lost.Node], [cluster[0].Node, cluster[1].Node]);
        cluster.Run(6);
        foreach (var old in left)
        {
            // One of the two remaining voters could not go on without the other, so it departs instead of crashing.
            old.Node.Post(old.Oracle.Depart);
            Assert.True(cluster.RunUntil(() => old.Oracle.State == MembershipState.Excluded, 10), cluster.Describe());
            old.Node.Crash();
            // The new life has the only seed that the first life had, so no process asks at the address of the lost one for one that may start there.
            var next = cluster.Restart(old, sameSeeds: true);
            next.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => next.Oracle.State == MembershipState.Active, 10), cluster.Describe());
            cluster.Run(3);
        }
        Assert.Equal(MembershipState.Blocked, lost.Oracle.State);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => lost.Oracle.State == MembershipState.Excluded, 5), cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>The process knows only the seed's address and the life that it met there. The new life that listens there tells it that it is excluded.</summary>
    [Fact]
    public void A_process_that_was_cut_off_learns_that_it_is_out_though_it_knows_only_the_seed_and_that_has_begun_a_new_life()
    {
        using var cluster = new OracleCluster(12, 3);
        var (first, lost, later) = (cluster[0], cluster[1], cluster[2]);
        first.StartAt(TimeSpan.Zero);
        lost.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => lost.Oracle.State == MembershipState.Active, 10), cluster.Describe());
        cluster.Run(3);
        Assert.Single(lost.Oracle.Voters);
        cluster.Simulation.Network.Partition(CutMode.Drop, [lost.Node], [first.Node, later.Node]);
        later.StartAt(TimeSpan.Zero);
        cluster.Run(6);
        first.Node.Post(first.Oracle.Depart);
        Assert.True(cluster.RunUntil(() => first.Oracle.State == MembershipState.Excluded, 10), cluster.Describe());
        first.Node.Crash();
        var next = cluster.Restart(first, sameSeeds: true);
        next.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => next.Oracle.State == MembershipState.Active, 10), cluster.Describe());
        Assert.Equal(later.Oracle.System, next.Oracle.System);
        Assert.Equal(MembershipState.Blocked, lost.Oracle.State);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => lost.Oracle.State == MembershipState.Excluded, 5), cluster.Describe());
        cluster.AssertNoViolations();
    }

    private static OracleCluster Running(ulong seed, int processes, OracleOptions? options = null)
    {
        var cluster = new OracleCluster(seed, processes, options: options);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", Options, ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == processes, 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }
}
