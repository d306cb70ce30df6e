using GroupCore.Membership;
using Oracle.Detection;

namespace Oracle.Tests;

/// <summary>A jump of the clock puts a process in doubt when it next enters the protocol, however often the clock was looked at before.</summary>
public sealed class LocalHealthTests
{
    [Fact]
    public void F15_looking_at_the_clock_does_not_consume_its_jump()
    {
        var health = new LocalHealth();
        health.Begin(0);
        for (int look = 0; look < 3; look++) Assert.True(health.HasJumped(Durations.Second));
        Assert.Equal(Durations.Second, health.TakeJump(Durations.Second));
        Assert.Equal(0, health.TakeJump(Durations.Second));
    }

    /// <summary>Reads look at the lease before anything else runs after the pause. It stays void until the Oracle has answered a question that was sent after the pause.</summary>
    [Fact]
    public void F15_a_process_that_is_read_from_after_a_pause_holds_no_lease_until_it_asked_again()
    {
        using var cluster = new OracleCluster(3, 3);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var one = cluster.Alive.Last(process => process != cluster.Leader);
        one.Node.Pause(TimeSpan.FromSeconds(1));
        // The process is cut off and gets no answer. The lease that it held before the pause must not come back.
        cluster.Simulation.Network.Partition([one.Node], [.. cluster.Alive.Where(process => process != one).Select(process => process.Node)]);
        var seen = new List<long>();
        for (int post = 0; post < 3; post++) one.Node.Post(() => seen.Add(one.Oracle.LeaseUntil));
        cluster.Run(1.05);
        one.Node.Post(() => seen.Add(one.Oracle.LeaseUntil));
        cluster.Run(0.05);
        Assert.Equal([0, 0, 0, 0], seen);
    }

    /// <summary>The machine sleeps for longer than makes a process give up its membership. The others were not silent, since they could not be asked.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_sleep_of_minutes_ends_no_membership(int processes)
    {
        using var cluster = new OracleCluster(4, processes);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        foreach (var process in cluster.Lives) process.Node.Pause(TimeSpan.FromMinutes(5));
        cluster.Run(310);
        Assert.All(cluster.Lives, process => Assert.Equal(MembershipState.Active, process.Oracle.State));
        Assert.All(cluster.Lives, process => Assert.True(process.Oracle.LeaseUntil > process.Node.Node.Now));
        Assert.DoesNotContain(cluster.Lives, process => process.Groups.Events.Exists(happened => happened.StartsWith("Excluded", StringComparison.Ordinal)));
    }

    /// <summary>
    /// Only the time that the clock jumped does not count as silence of the others; between the stalls the process asks and nobody answers. Even with hardly any time between
    /// stalls, as on a host under far too much load, it gives up in the end.
    /// </summary>
    [Theory]
    [InlineData(500)]
    [InlineData(950)]
    public void A_process_that_is_cut_off_gives_up_however_often_its_loop_stalls(int stalled)
    {
        using var cluster = new OracleCluster(5, 3);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var one = cluster.Alive.Last(process => process != cluster.Leader);
        cluster.Simulation.Network.Partition([one.Node], [.. cluster.Alive.Where(process => process != one).Select(process => process.Node)]);
        double patience = 4 * (cluster.Options.IsolationTimeout + cluster.Options.ExclusionTimeout).TotalSeconds;
        for (double passed = 0; passed < patience && one.Oracle.State != MembershipState.Excluded; passed++)
        {
            one.Node.Pause(TimeSpan.FromMilliseconds(stalled));
            cluster.Run(1);
        }
        Assert.Equal(MembershipState.Excluded, one.Oracle.State);
    }
}
