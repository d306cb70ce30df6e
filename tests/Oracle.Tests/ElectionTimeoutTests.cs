using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>How long a leader's silence is tolerated, and the other times that this one must fit.</summary>
public sealed class ElectionTimeoutTests
{
    /// <summary>
    /// The followers still wait for the leader that they heard. If the leader stepped down at once, nobody would lead for an election timeout; with one of 60 s all processes
    /// would have given up by then.
    /// </summary>
    [Theory]
    [InlineData(0.3)]
    [InlineData(5)]
    [InlineData(20)]
    public void Voters_that_are_held_up_for_a_moment_cost_no_election_timeout(double seconds)
    {
        using var cluster = new OracleCluster(1, 5, options: new() { ElectionTimeout = TimeSpan.FromSeconds(seconds) });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var leader = cluster.Leader!;
        foreach (var voter in cluster.Alive.Where(process => process != leader && process.Oracle.Replica is { Log.IsVoter: true })) voter.Node.Pause(TimeSpan.FromSeconds(1.3));
        cluster.Run(1.5);
        Assert.True(cluster.RunUntil(() => cluster.Leader is not null, 1), cluster.Describe());
        cluster.Run(5);
        Assert.True(cluster.Alive.Count() == 5 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>A process that has not heard a leader for that long gives up. An election that begins only then comes too late.</summary>
    [Theory]
    [InlineData(3, 60, 21, true)]
    [InlineData(3, 60, 22, false)]
    [InlineData(1, 2, 1, true)]
    [InlineData(1, 2, 2, false)]
    [InlineData(3, 3_600, 600, true)]
    public void An_election_has_its_time_before_all_give_up(int isolation, int exclusion, int election, bool fits)
    {
        var options = new OracleOptions { IsolationTimeout = TimeSpan.FromSeconds(isolation), ExclusionTimeout = TimeSpan.FromSeconds(exclusion), ElectionTimeout = TimeSpan.FromSeconds(election) };
        if (fits) options.Validate();
        else Assert.Contains(nameof(OracleOptions.ExclusionTimeout), Assert.Throws<InvalidOptionException>(options.Validate).Message, StringComparison.Ordinal);
    }

    /// <summary>A shorter timer would always be due, and the loop would do nothing else.</summary>
    [Theory]
    [InlineData(10_000, true)]
    [InlineData(9_999, false)]
    [InlineData(1, false)]
    public void A_heartbeat_comes_once_a_millisecond_at_most(long ticks, bool fits)
    {
        var options = new OracleOptions { Heartbeat = TimeSpan.FromTicks(ticks) };
        if (fits) options.Validate();
        else Assert.Contains(nameof(OracleOptions.Heartbeat), Assert.Throws<InvalidOptionException>(options.Validate).Message, StringComparison.Ordinal);
    }
}
