using GroupCore.Membership;
using Ida.Testing;
using Oracle.Detection;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>What excludes a process and what does not (failure-detection.md#proof-of-death, #a-cut-not-single-exclusions, #a-pair-that-does-not-get-on).</summary>
public sealed class EvidenceTests
{
    private static readonly GroupOptions Options = new();

    /// <summary>With two processes, the other one accuses the only voter, with any evidence. If that voter were excluded, the system would be over.</summary>
    [Theory]
    [InlineData(nameof(Suspicion.FlushStall))]
    [InlineData(nameof(Suspicion.Slow))]
    [InlineData(nameof(Suspicion.Timeout))]
    [InlineData(nameof(Suspicion.ProcessGone))]
    public void F3_the_only_voter_does_not_exclude_itself(string named)
    {
        var evidence = Enum.Parse<Suspicion>(named);
        using var cluster = Running(1, 2);
        cluster[1].Node.Post(() => cluster[1].Oracle.Suspect(cluster[0].Oracle.Self, evidence));
        cluster.Run(30);
        Assert.Equal(MembershipState.Active, cluster[0].Oracle.State);
        Assert.NotNull(cluster.Leader);
        cluster.AssertNoViolations();
    }

    /// <summary>One member misses frames of another for a while; the other answers probes all the while. Both stay.</summary>
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(5)]
    public void F3_the_silence_of_one_member_in_a_group_that_one_other_suspects_costs_nobody_his_place(int processes)
    {
        using var cluster = Running(2, processes);
        cluster[0].Node.Post(() => cluster[0].Oracle.Suspect(cluster[1].Oracle.Self, Suspicion.FlushStall));
        cluster.Run(8);
        cluster[0].Node.Post(() => cluster[0].Oracle.Withdraw(cluster[1].Oracle.Self));
        cluster.Run(8);
        Assert.Equal(processes, cluster.Alive.Count());
        cluster.AssertNoViolations();
    }

    /// <summary>
    /// One of five reports for a long time that another's handlers are slow. Such a report is no conflict between the two, so the reporter is not excluded for it.
    /// </summary>
    [Fact]
    public void F3_a_process_that_reports_slow_handlers_is_not_excluded_for_that()
    {
        using var cluster = Running(3, 5);
        var (one, other) = (cluster.Alive.Last(process => process != cluster.Leader), cluster.Alive.First());
        one.Node.Post(() => one.Oracle.Suspect(other.Oracle.Self, Suspicion.Slow));
        cluster.Run(30);
        Assert.Equal(5, cluster.Alive.Count());
    }

    /// <summary>
    /// Only members of a group that evicts slow members can see that one of them is slow, however many processes watch it. Two of them must say so, or the only other member
    /// of a group of two (failure-detection.md#slow-members-are-judged-by-their-group). Reports of processes that share no such group with it do not count.
    /// </summary>
    [Theory]
    [InlineData(SlowMember.Evict, 4, 2, true)]
    [InlineData(SlowMember.Evict, 4, 1, false)]
    [InlineData(SlowMember.Evict, 2, 1, true)]
    [InlineData(SlowMember.Block, 4, 3, false)]
    public void F3_only_reports_of_members_of_a_group_that_evicts_count_against_a_slow_member(SlowMember policy, int members, int witnesses, bool goes)
    {
        using var cluster = WithGroupOf(members, policy);
        var slow = cluster[members - 1];
        for (int i = 0; i < witnesses; i++) SuspectOfSlowness(cluster[i], slow);
        cluster.Run(15);
        Assert.Equal(goes, !cluster.Alive.Contains(slow));
        Assert.Equal(goes ? 8 : 9, cluster.Alive.Count());
        cluster.AssertNoViolations();
    }

    /// <summary>
    /// For example, their handlers all wait for the same thing. A member that enough others call slow is no witness against another, so that a group is never lost that way.
    /// </summary>
    [Theory]
    [InlineData(3, 1)]
    [InlineData(5, 2)]
    public void Members_that_are_slow_to_each_other_are_excluded_only_if_a_member_that_is_not_slow_says_so(int members, int others)
    {
        using var cluster = WithGroupOf(members, SlowMember.Evict);
        SuspectEachOther(cluster, members, others);
        cluster.Run(15);
        Assert.Equal(9 - members + others, cluster.Alive.Count());
        Assert.All(Enumerable.Range(0, members), i => Assert.Equal(i < others, cluster.Alive.Contains(cluster[i])));
        cluster.AssertNoViolations();
    }

    /// <summary>No member is left that could be a witness. After 10 s the member registered last goes, and after each exclusion the rest get another 10 s.</summary>
    [Theory]
    [InlineData(2)]
    [InlineData(4)]
    public void Members_that_are_all_slow_to_each_other_are_excluded_one_at_a_time_the_latest_first_until_one_is_left(int members)
    {
        using var cluster = WithGroupOf(members, SlowMember.Evict);
        SuspectEachOther(cluster, members, 0);
        var ranked = Enumerable.Range(0, members).Select(i => cluster[i]).OrderBy(process => process.Oracle.Self).ToList();
        for (int gone = 0; gone < members - 1; gone++)
        {
            cluster.Run(9.5);
            Assert.Equal(9 - gone, cluster.Alive.Count());
            Assert.True(cluster.RunUntil(() => cluster.Alive.Count() == 8 - gone, 4), cluster.Describe());
            Assert.DoesNotContain(ranked[^(gone + 1)], cluster.Alive);
        }
        cluster.Run(30);
        Assert.Equal(10 - members, cluster.Alive.Count());
        cluster.AssertNoViolations();
    }

    /// <summary>
    /// The members get what they all waited for. Each looks once a second, and then takes its reports back. A member that did so early does not become a witness for the
    /// reports of the others, nor does a member that fewer and fewer call slow.
    /// </summary>
    [Theory]
    [InlineData(2, true)]
    [InlineData(3, true)]
    [InlineData(5, true)]
    [InlineData(3, false)]
    [InlineData(5, false)]
    public void Members_that_were_slow_to_each_other_stay_when_they_withdraw_their_reports_one_after_the_other(int members, bool allOfOneMember)
    {
        using var cluster = WithGroupOf(members, SlowMember.Evict);
        SuspectEachOther(cluster, members, 0);
        cluster.Run(6.5);
        for (int i = 0; i < members; i++)
        {
            for (int j = 0; j < members; j++)
            {
                var (one, other) = allOfOneMember ? (cluster[i], cluster[j]) : (cluster[j], cluster[i]);
                if (one != other) one.Node.Post(() => one.Oracle.Withdraw(other.Oracle.Self));
            }
            cluster.Run(0.6);
        }
        cluster.Run(15);
        Assert.Equal(9, cluster.Alive.Count());
        cluster.AssertNoViolations();
    }

    /// <summary>Of members that all call each other slow, one is excluded. The reports against it are withdrawn at once; the members that made them still get their 10 s.</summary>
    [Fact]
    public void Members_that_reported_an_excluded_slow_member_have_their_time_even_if_their_reports_are_withdrawn_at_once()
    {
        using var cluster = WithGroupOf(3, SlowMember.Evict);
        SuspectEachOther(cluster, 3, 0);
        var victim = Enumerable.Range(0, 3).Select(i => cluster[i]).MaxBy(process => process.Oracle.Self)!;
        var self = victim.Oracle.Self;
        Assert.True(cluster.RunUntil(() => !cluster.Leader!.Oracle.Replica!.State.IsAlive(self), 15), cluster.Describe());
        for (int i = 0; i < 3; i++)
            if (cluster[i] is var one && one != victim) one.Node.Post(() => one.Oracle.Withdraw(self));
        cluster.Run(9);
        Assert.Equal(8, cluster.Alive.Count());
        cluster.Run(5);
        Assert.Equal(7, cluster.Alive.Count());
    }

    /// <summary>
    /// Four groups of two whose handlers wait for the same thing: no group waits for another group's turn. Where groups overlap, a member whose turn would be next stays if
    /// the one that it waited for is excluded.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void One_member_is_excluded_from_each_group_whose_members_are_all_slow_to_each_other(bool overlapping)
    {
        using var cluster = new OracleCluster(6, 9);
        var pairs = overlapping ? new[] { (1, 2), (2, 3), (3, 1), (4, 5), (6, 7) } : [(1, 2), (3, 4), (5, 6), (7, 8)];
        cluster.OnActive = process => process.Node.Post(() =>
        {
            process.Oracle.Join("g", Options, "");
            foreach (var (one, other) in pairs)
                if (process == cluster[one] || process == cluster[other]) process.Oracle.Join($"{one} and {other}", new() { SlowMember = SlowMember.Evict }, "");
        });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && Array.TrueForAll(pairs, pair => cluster[pair.Item2].Groups.ViewOf($"{pair.Item1} and {pair.Item2}") is { Members.Count: 2 }), 10), cluster.Describe());
        cluster.Run(3);
        foreach (var (one, other) in pairs)
        {
            SuspectOfSlowness(cluster[one], cluster[other]);
            // In the ring of three, each calls the next one slow.
            if (!overlapping || one > 3) SuspectOfSlowness(cluster[other], cluster[one]);
        }
        cluster.Run(9.5);
        Assert.Equal(9, cluster.Alive.Count());
        cluster.Run(3.5);
        Assert.Equal(9 - (overlapping ? 3 : 4), cluster.Alive.Count());
        cluster.AssertNoViolations();
    }

    /// <summary>Of two processes only one votes, and each calls the other slow. The one that does not vote goes, and not before its time.</summary>
    [Fact]
    public void A_process_that_does_not_vote_is_excluded_when_it_and_the_only_voter_are_slow_to_each_other()
    {
        using var cluster = new OracleCluster(6, 2);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("evicts", new() { SlowMember = SlowMember.Evict }, ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("evicts"), 10), cluster.Describe());
        var voter = cluster.Leader!;
        var other = cluster.Alive.Single(process => process != voter);
        SuspectOfSlowness(voter, other);
        SuspectOfSlowness(other, voter);
        cluster.Run(9);
        Assert.Equal(2, cluster.Alive.Count());
        cluster.Run(3);
        Assert.Equal([voter], cluster.Alive);
    }

    /// <summary>Each of the first <paramref name="members"/> processes calls those of them slow that are not among the first <paramref name="others"/>.</summary>
    private static void SuspectEachOther(OracleCluster cluster, int members, int others)
    {
        for (int i = 0; i < members; i++)
        {
            for (int slow = others; slow < members; slow++)
                if (i != slow) SuspectOfSlowness(cluster[i], cluster[slow]);
        }
    }

    private static void SuspectOfSlowness(OracleCluster.Process one, OracleCluster.Process slow) =>
        one.Node.Post(() => one.Oracle.Suspect(slow.Oracle.Self, Suspicion.Slow));

    /// <summary>Nine processes in one group, the first few of them also in a second group with the given policy.</summary>
    private static OracleCluster WithGroupOf(int members, SlowMember policy)
    {
        var cluster = new OracleCluster(6, 9);
        var group = new GroupOptions { SlowMember = policy };
        cluster.OnActive = process => process.Node.Post(() =>
        {
            process.Oracle.Join("g", Options, "");
            if (Enumerable.Range(0, members).Any(i => cluster[i] == process)) process.Oracle.Join("evicts", group, "");
        });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 9, 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }

    /// <summary>A long time of slow handlers says nothing about the age of other evidence. New evidence gets its own ten seconds.</summary>
    [Fact]
    public void A_process_that_was_slow_for_long_is_not_judged_at_once_by_other_evidence()
    {
        using var cluster = Running(7, 5);
        var (one, other) = (cluster[3], cluster[4]);
        one.Node.Post(() => one.Oracle.Suspect(other.Oracle.Self, Suspicion.Slow));
        cluster.Run(15);
        one.Node.Post(() => one.Oracle.Suspect(other.Oracle.Self, Suspicion.FlushStall));
        cluster.Run(8);
        Assert.Equal(5, cluster.Alive.Count());
        cluster.Run(8);
        Assert.Equal(4, cluster.Alive.Count());
    }

    /// <summary>
    /// Three of five are suspected at once, so the leader first asks its voters whether it is the leader itself that is cut off. All suspicions are withdrawn before they
    /// answer. The exclusion that was decided on the old suspicions must not be carried out.
    /// </summary>
    [Fact]
    public void Suspicions_of_many_that_are_withdrawn_before_the_leader_is_confirmed_exclude_nobody()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            // No voter campaigns while it does not hear the leader.
            using var cluster = new OracleCluster(seed, 5, options: new() { ElectionTimeout = TimeSpan.FromSeconds(1) });
            Start(cluster);
            var leader = cluster.Leader!;
            var network = cluster.Simulation.Network;
            var all = cluster.Alive.ToList();
            var voters = leader.Oracle.Replica!.Log.Entries.Configuration;
            // At most one voter; otherwise the voters would be spared.
            var victims = all.Where(process => process != leader).OrderBy(process => voters.IsVoter(process.Node.Id)).Take(3).ToList();
            foreach (var other in all.Where(other => other != leader && voters.IsVoter(other.Node.Id))) network.Cut(leader.Node, other.Node);
            // The victims suspect each other first, so all three are decided at once, with the last suspicion.
            OracleCluster.Process[] suspecting = [.. victims, leader];
            foreach (var one in suspecting)
            {
                foreach (var victim in victims.Where(victim => victim != one)) one.Node.Post(() => one.Oracle.Suspect(victim.Oracle.Self, Suspicion.FlushStall));
                cluster.Run(0.1);
            }
            foreach (var one in suspecting)
                foreach (var victim in victims.Where(victim => victim != one)) one.Node.Post(() => one.Oracle.Withdraw(victim.Oracle.Self));
            cluster.Run(0.05);
            Assert.Equal(leader, cluster.Leader);
            network.Heal();
            cluster.Run(5);
            Assert.True(cluster.Settled("g") && cluster.Alive.Count() == 5, cluster.Describe());
        }
    }

    /// <summary>
    /// When many processes fail at once, each of their watchers says so every half second. All suspicions that arrive in one turn are weighed once, so the cost grows with
    /// their number and not with its square.
    /// </summary>
    [Fact]
    public void Suspicions_that_come_in_one_turn_are_weighed_once()
    {
        using var cluster = Running(6, 3);
        var leader = cluster.Leader!;
        var others = cluster.Alive.Where(process => process != leader).ToList();
        long decisions = 0;
        leader.Node.Post(() =>
        {
            var shell = leader.Oracle.Replica!.Services;
            decisions = shell.Decisions;
            var observer = new Replica(others[0].Node.Id, others[0].Node.Address);
            for (int i = 0; i < 1_000; i++) shell.OnSuspect(0, observer, new(others[1].Oracle.Self, i % 2 == 1, Suspicion.FlushStall, 0));
        });
        cluster.Run(0.001);
        Assert.InRange(leader.Oracle.Replica!.Services.Decisions - decisions, 1, 2);
        Assert.Equal(3, cluster.Alive.Count());
    }

    /// <summary>
    /// A silent process with a long lease is excluded. Then its host says that it is gone. The former watchers are still believed, so the view does not wait for the lease.
    /// </summary>
    [Fact]
    public void Proof_of_death_that_comes_after_the_exclusion_ends_the_wait_for_the_lease()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var options = new OracleOptions { LeaseDuration = TimeSpan.FromSeconds(20), IsolationTimeout = TimeSpan.FromSeconds(20) };
            using var cluster = new OracleCluster(seed, 5, options: options);
            Start(cluster);
            var one = cluster.Alive.Last(process => process != cluster.Leader);
            one.Node.Pause(TimeSpan.FromMinutes(1));
            Assert.True(cluster.RunUntil(() => cluster.Leader!.Oracle.Replica!.State.Find(one.Oracle.Self) is { Status: ProcessStatus.Excluded }, 10), cluster.Describe());
            Assert.False(cluster.RunUntil(() => cluster.Settled("g"), 0.1), cluster.Describe());
            one.Node.Crash(hostAnswers: true);
            Assert.True(cluster.RunUntil(() => cluster.Alive.All(process => process.Groups.ViewOf("g") is { Members.Count: 4 }), 3), cluster.Describe());
        }
    }

    /// <summary>20 processes. Three suspect one, and five others that do not watch it are down. Those five say nothing about it.</summary>
    [Fact]
    public void F10_suspected_processes_count_as_observers_only_of_those_they_watch()
    {
        var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        using (simulation)
        {
            var node = simulation.AddNode().Node;
            var state = new OracleState(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
            for (ulong number = 1; number <= 20; number++)
                state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second))]));
            var ids = state.Processes.Select(process => process.Id).ToList();
            var ring = new MonitoringRing();
            var subject = ids[0];
            var strangers = ids.Where(id => id != subject && !ring.Watches(id, subject, state)).Take(5).ToList();
            var watchers = ids.Where(id => id != subject && ring.Watches(id, subject, state)).ToList();
            foreach (bool watching in (bool[])[false, true])
            {
                var detector = new CutDetector(node, ring, new());
                foreach (var other in watching ? watchers.Skip(3).Take(5) : strangers)
                    foreach (var reporter in ids.Where(id => id != other && id != subject).Take(5)) detector.Suspect(other, reporter, Suspicion.Timeout, 0);
                foreach (var reporter in watchers.Take(3)) detector.Suspect(subject, reporter, Suspicion.Timeout, 0);
                detector.Decide(state, 20, default, static _ => true);
                simulation.Run(TimeSpan.FromSeconds(1.5));
                Assert.Equal(watching, detector.Decide(state, 20, default, static _ => true).Exists(failure => failure.Process == subject));
            }
        }
    }

    /// <summary>The tally assumes as many watchers as there are rings, even where two processes are neighbours on several rings.</summary>
    [Fact]
    public void Each_process_of_a_large_system_has_as_many_watchers_as_the_tally_counts_on()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode().Node;
        var state = new OracleState(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
        var ring = new MonitoringRing();
        for (ulong number = 1; number <= 60; number++)
        {
            state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second))]));
            foreach (var process in state.Processes)
            {
                var watchers = ring.WatchersOf(process.Id, state);
                Assert.Equal(MonitoringRing.PerSubject((int)number), watchers.Distinct().Count());
                Assert.Equal(watchers.Count, watchers.Distinct().Count());
                Assert.DoesNotContain(process.Id, watchers);
            }
        }
    }

    /// <summary>A process that falls silent in a system of 10 to 40 is excluded as soon as in a small one.</summary>
    [Fact]
    public void A_process_that_is_cut_off_is_out_of_a_larger_system_as_soon_as_of_a_small_one()
    {
        for (int processes = 10; processes <= 40; processes += 5)
        {
            using var cluster = new OracleCluster((ulong)processes, processes);
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader is not null && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
            cluster.Run(2);
            foreach (var lost in cluster.Alive.Where(process => process != cluster.Leader).Take(4).ToList())
            {
                var leader = cluster.Leader!;
                var self = lost.Oracle.Self;
                cluster.Simulation.Network.Partition([lost.Node], [.. cluster.Alive.Where(process => process != lost).Select(process => process.Node)]);
                Assert.True(cluster.RunUntil(() => !leader.Oracle.Replica!.State.IsAlive(self), 3), cluster.Describe());
                cluster.Run(1);
            }
        }
    }

    /// <summary>
    /// Two pairs do not get on. From the first pair a voter would have to go without which nobody could decide. It stays, and the other pair is still dealt with.
    /// </summary>
    [Fact]
    public void A_pair_of_which_nobody_may_go_does_not_hide_the_next()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode().Node;
        var state = new OracleState(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
        for (ulong number = 1; number <= 8; number++)
            state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second))]));
        var ids = state.Processes.Select(process => process.Id).ToList();
        var detector = new CutDetector(node, new(), new());
        for (int second = 0; second <= 10; second++)
        {
            detector.Suspect(ids[1], ids[0], Suspicion.Timeout, 0);
            detector.Suspect(ids[5], ids[4], Suspicion.Timeout, 0);
            simulation.Run(TimeSpan.FromSeconds(1));
        }
        Assert.Equal([ids[1]], detector.Decide(state, 8, default, static _ => true).Select(failure => failure.Process));
        Assert.Equal([ids[5]], detector.Decide(state, 8, default, process => process != ids[1]).Select(failure => failure.Process));
        Assert.Empty(detector.Decide(state, 8, default, static _ => false));
    }

    /// <summary>Two processes see a refusal, as from a proxy that restarts, or from somebody on the network. The process lives and holds its lease, so the view must wait for it.</summary>
    [Theory]
    [InlineData(true, true)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public void F11_a_refusal_is_proof_only_at_an_address_that_the_process_owns_and_where_nobody_else_can_refuse(bool owns, bool trusted)
    {
        bool proves = owns && trusted;
        using var cluster = new OracleCluster(4, 5, shape: (_, options) => options with { OwnsAddress = owns, RefusalsProve = trusted });
        Start(cluster);
        var victim = cluster.Alive.Last(process => process != cluster.Leader);
        var others = cluster.Alive.Where(process => process != victim).ToList();
        cluster.Simulation.Network.Partition([victim.Node], others.ConvertAll(process => process.Node));
        foreach (var other in others.Take(2)) other.Node.Post(() => other.Oracle.Suspect(victim.Oracle.Self, Suspicion.Refused));
        cluster.Run(0.5);
        Assert.Equal(proves, others.TrueForAll(other => other.Groups.ViewOf("g")?.Members.Count == 4));
        Assert.True(cluster.RunUntil(() => others.TrueForAll(other => other.Groups.ViewOf("g")?.Members.Count == 4), 6), cluster.Describe());
        cluster.Run(3);
        Assert.Equal(proves, cluster.Checker.Violations.Count > 0);
    }

    /// <summary>Connections break between live processes. Their probe of the process on its host wrongly says that it is gone, or fails.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void F33_a_probe_that_lies_or_fails_proves_nobody_dead(bool fails)
    {
        OracleCluster? made = null;
        var probe = new SimProbe(number => made!.Lives.Find(life => SimProbe.NumberOf(life.Node) == number)?.Node);
        using var cluster = made = new OracleCluster(5, 5, shape: probe.Shape);
        Start(cluster);
        probe.Now = fails ? SimProbe.Mood.Fails : SimProbe.Mood.SaysGone;
        for (int round = 0; round < 10; round++)
        {
            foreach (var one in cluster.Lives)
                foreach (var other in cluster.Lives)
                    if (one != other) cluster.Simulation.Network.Break(one.Node, other.Node);
            cluster.Run(0.3);
        }
        Assert.True(probe.Asked > 20, $"asked {probe.Asked} times");
        Assert.Equal(5, cluster.Alive.Count());
        cluster.AssertNoViolations();
    }

    /// <summary>Processes that are not known to share a host cannot see each other in a process table.</summary>
    [Fact]
    public void F33_a_process_on_another_host_proves_no_process_dead()
    {
        using var cluster = Running(7, 5);
        var (one, other) = (cluster.Alive.Last(process => process != cluster.Leader), cluster.Alive.First(process => process != cluster.Leader));
        one.Node.Post(() => one.Oracle.Suspect(other.Oracle.Self, Suspicion.ProcessGone));
        cluster.Run(5);
        Assert.Equal(5, cluster.Alive.Count());
    }

    [Fact]
    public void F33_a_process_that_is_gone_from_its_host_is_excluded_at_once_by_that()
    {
        OracleCluster? made = null;
        var probe = new SimProbe(number => made!.Lives.Find(life => SimProbe.NumberOf(life.Node) == number)?.Node);
        // Refusals at the address do not count here.
        using var cluster = made = new OracleCluster(6, 5, shape: (node, options) => probe.Shape(node, options) with { OwnsAddress = false });
        Start(cluster);
        var victim = cluster.Alive.Last(process => process != cluster.Leader);
        victim.Node.Crash();
        Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 0.15), cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>The leader takes what watchers see from those that are assigned to watch, and what a group sees from the members of that group.</summary>
    [Fact]
    public void A_process_that_no_longer_watches_another_reports_what_its_group_saw_and_not_what_it_saw_itself()
    {
        var watched = new MonitoredProcess(new(default, default, 0, 0), 0) { Assigned = true, Observed = Suspicion.Timeout, Suspected = Suspicion.FlushStall };
        Assert.Equal(Suspicion.Timeout, watched.Evidence);
        watched.Assigned = false;
        Assert.Equal(Suspicion.FlushStall, watched.Evidence);
        watched.Suspected = null;
        Assert.Null(watched.Evidence);
    }

    private static OracleCluster Running(ulong seed, int processes)
    {
        var cluster = new OracleCluster(seed, processes);
        Start(cluster);
        return cluster;
    }

    private static void Start(OracleCluster cluster)
    {
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", Options, ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == cluster.Lives.Count, 10), cluster.Describe());
        cluster.Run(3);
    }
}
