using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>
/// The only seed dies and starts again, with its own address as the only seed. It may found a system, but not beside one that is still alive
/// (oracle.md#only-seeds-found-the-earlier-first).
/// </summary>
public sealed class SecondFoundingTests
{
    [Theory]
    [InlineData(1), InlineData(20), InlineData(50), InlineData(100), InlineData(200)]
    [InlineData(300), InlineData(500), InlineData(1_000), InlineData(2_000), InlineData(5_000)]
    public void The_only_seed_that_restarts_joins_the_system_of_the_others(int after)
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var cluster = Running(seed, 3);
            var system = cluster[0].Oracle.System;
            cluster[0].Node.Crash();
            cluster.Run(after / 1000.0);
            cluster.Restart(cluster[0], sameSeeds: true).StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 12), cluster.Describe());
            Assert.True(system == cluster[0].Oracle.System, cluster.Describe());
            Assert.DoesNotContain(cluster.Lives, life => life.Groups.Events.Any(text => text.Contains("SplitFoundation", StringComparison.Ordinal)));
        }
    }

    /// <summary>
    /// The seed's previous life stays a voter for a while, since no successor can be dialled. Meanwhile the others do not look for that voter at the seed's address.
    /// </summary>
    [Fact]
    public void The_only_seed_that_restarts_while_its_life_before_is_still_a_voter_joins_the_system_of_the_others()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var cluster = new OracleCluster(seed, 4);
            foreach (var other in cluster.Lives.Take(3)) other.Node.Links.Doubted.Add(cluster[3].Node.Address);
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
            cluster.Run(2);
            var system = cluster[0].Oracle.System;
            cluster[0].Node.Crash();
            cluster.Run(0.2);
            cluster.Restart(cluster[0], sameSeeds: true).StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 12), cluster.Describe());
            Assert.True(system == cluster[0].Oracle.System, cluster.Describe());
            Assert.DoesNotContain(cluster.Lives, life => life.Groups.Events.Any(text => text.Contains("SplitFoundation", StringComparison.Ordinal)));
        }
    }

    /// <summary>
    /// The new life is stopped just after its start, and reads everything that came meanwhile only after it has looked at its clock. In some runs, when their links to the new
    /// life are up, the others ask for the previous life, which is still a voter.
    /// </summary>
    [Theory]
    [InlineData(1.2), InlineData(3.0)]
    public void The_only_seed_that_is_stopped_as_it_restarts_joins_the_system_of_the_others(double stopped)
    {
        for (ulong seed = 1; seed <= 20; seed++) StoppedAsItRestarts(seed, 0.002 * seed, stopped);
        for (ulong seed = 1; seed <= 100; seed++) StoppedAsItRestarts(seed, 0.002 * ((seed % 20) + 1), stopped);
        foreach (ulong seed in (ulong[])[121, 198, 200, 216, 245, 247, 259, 297, 311, 341]) StoppedAsItRestarts(seed, 0.002 * ((seed % 20) + 1), stopped);
    }

    /// <summary>Its host runs the process so seldom that each of its turns is late.</summary>
    [Fact]
    public void A_seed_that_is_stopped_again_and_again_founds_all_the_same()
    {
        using var cluster = new OracleCluster(1, 2, seeds: 2);
        foreach (var process in cluster.Lives) process.StartAt(TimeSpan.Zero);
        for (int time = 0; time < 60 && !cluster.Lives.Exists(process => process.Oracle.State == MembershipState.Active); time++)
        {
            cluster.Run(0.1);
            foreach (var process in cluster.Lives) process.Node.Pause(TimeSpan.FromSeconds(0.4));
            cluster.Run(0.4);
        }
        Assert.True(cluster.Lives.Exists(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
    }

    [Fact]
    public void The_only_seed_founds_anew_where_it_alone_could_decide_and_the_other_process_gives_up()
    {
        using var cluster = Running(1, 2);
        var system = cluster[0].Oracle.System;
        cluster[0].Node.Crash();
        cluster.Run(1);
        cluster.Restart(cluster[0], sameSeeds: true).StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 3), cluster.Describe());
        Assert.NotEqual(system, cluster[0].Oracle.System);
        Assert.True(cluster.RunUntil(() => cluster[1].Oracle.State == MembershipState.Excluded, 70), cluster.Describe());
        Assert.Equal(MembershipState.Active, cluster[0].Oracle.State);
        cluster.Restart(cluster[1], sameSeeds: true).StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[1].Oracle.State == MembershipState.Active, 5), cluster.Describe());
        Assert.Equal(cluster[0].Oracle.System, cluster[1].Oracle.System);
    }

    [Fact]
    public void The_only_seed_founds_when_it_is_cut_off_from_the_others_and_gives_way_when_it_meets_them()
    {
        using var cluster = Running(2, 3);
        var system = cluster[0].Oracle.System;
        cluster[0].Node.Crash();
        var again = cluster.Restart(cluster[0], sameSeeds: true);
        cluster.Simulation.Network.Partition([again.Node], [cluster[1].Node, cluster[2].Node]);
        again.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => again.Oracle.State == MembershipState.Active, 5), cluster.Describe());
        Assert.NotEqual(system, again.Oracle.System);
        cluster.Run(5);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => again.Oracle.State == MembershipState.Excluded, 5), cluster.Describe());
        Assert.Contains(again.Groups.Events, text => text.Contains("gives way", StringComparison.Ordinal));
        Assert.All([cluster[1], cluster[2]], other => Assert.Equal(MembershipState.Active, other.Oracle.State));
        cluster.Restart(again, sameSeeds: true).StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 5), cluster.Describe());
        Assert.Equal(system, cluster[0].Oracle.System);
    }

    /// <summary>
    /// Two of three voters die; the third cannot decide anything, but still tells of them. A seed that starts again believes the third voter as long as that one lives, and
    /// founds a system of its own when it is gone.
    /// </summary>
    [Fact]
    public void A_seed_that_was_told_of_a_dead_system_founds_when_nobody_tells_of_it_any_more()
    {
        using var cluster = new OracleCluster(3, 3, seeds: 3);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        var dead = cluster[0].Oracle.System;
        cluster[0].Node.Crash();
        cluster[1].Node.Crash();
        cluster.Run(4);
        Assert.Equal(MembershipState.Blocked, cluster[2].Oracle.State);
        foreach (int seed in (int[])[0, 1]) cluster.Restart(cluster[seed], sameSeeds: true).StartAt(TimeSpan.Zero);
        cluster.Run(10);
        // The old system may come back, so the seeds do not found.
        Assert.All([cluster[0], cluster[1]], seed => Assert.Equal(MembershipState.Starting, seed.Oracle.State));
        cluster[2].Node.Crash();
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active && cluster[1].Oracle.State == MembershipState.Active, 15), cluster.Describe());
        Assert.Equal(cluster[0].Oracle.System, cluster[1].Oracle.System);
        Assert.NotEqual(dead, cluster[0].Oracle.System);
    }

    /// <summary>
    /// Two seeds did not reach each other at their start, and each founded a system with another process. Neither system changes anything in the other, and both report the
    /// other.
    /// </summary>
    [Fact]
    public void Neither_of_two_larger_systems_gives_way_and_each_reports_the_other_once_with_both_names()
    {
        using var cluster = new OracleCluster(4, 4, seeds: 2);
        cluster.Simulation.Network.Partition([cluster[0].Node, cluster[2].Node], [cluster[1].Node, cluster[3].Node]);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new GroupOptions(), ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Alive.All(process => process.Groups.ViewOf("g")?.Members.Count == 2), 15), cluster.Describe());
        var (left, right) = (cluster[0].Oracle.System, cluster[1].Oracle.System);
        Assert.NotEqual(left, right);
        cluster.Simulation.Network.Heal();
        cluster.Run(30);
        foreach (int side in (int[])[0, 1])
        {
            OracleCluster.Process[] members = [cluster[side], cluster[side + 2]];
            string[] reports = [.. members.SelectMany(member => member.Groups.Events.Where(text => text.Contains("SplitFoundation", StringComparison.Ordinal)))];
            Assert.NotEmpty(reports);
            Assert.All(reports, text => Assert.True(text.Contains(left.ToString(), StringComparison.Ordinal) && text.Contains(right.ToString(), StringComparison.Ordinal), text));
            Assert.All(members, member => Assert.InRange(member.Groups.Events.Count(text => text.Contains("SplitFoundation", StringComparison.Ordinal)), 0, 1));
            Assert.Equal(1, cluster[side].Groups.Events.Count(text => text.Contains("SplitFoundation", StringComparison.Ordinal)));
            Assert.All(members, member => Assert.Equal((MembershipState.Active, 2), (member.Oracle.State, member.Groups.ViewOf("g")!.Members.Count)));
            // Each side goes on deciding.
            members[1].Node.Post(() => members[1].Oracle.Join("later", new GroupOptions(), ""));
            Assert.True(cluster.RunUntil(() => members[1].Groups.ViewOf("later") is not null, 5), cluster.Describe());
        }
    }

    private static void StoppedAsItRestarts(ulong seed, double after, double stopped)
    {
        using var cluster = Running(seed, 3, new() { MinLatency = TimeSpan.FromMilliseconds(20), MaxLatency = TimeSpan.FromMilliseconds(30) });
        var system = cluster[0].Oracle.System;
        cluster[0].Node.Crash();
        cluster.Run(0.5);
        cluster.Restart(cluster[0], sameSeeds: true).StartAt(TimeSpan.Zero);
        cluster.Run(after);
        cluster[0].Node.Pause(TimeSpan.FromSeconds(stopped));
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 12), cluster.Describe());
        Assert.True(system == cluster[0].Oracle.System, cluster.Describe());
        Assert.DoesNotContain(cluster.Lives, life => life.Groups.Events.Any(text => text.Contains("SplitFoundation", StringComparison.Ordinal)));
    }

    private static OracleCluster Running(ulong seed, int processes, Ida.Testing.LinkModel? link = null)
    {
        var cluster = new OracleCluster(seed, processes, link: link);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Alive.Count(process => process.Oracle.State == MembershipState.Active) == processes, 10), cluster.Describe());
        cluster.Run(2);
        return cluster;
    }
}
