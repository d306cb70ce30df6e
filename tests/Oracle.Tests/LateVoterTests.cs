using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>A voter on a host that schedules late waits longer for its leader, but not so long that all processes give up before there is another leader.</summary>
public sealed class LateVoterTests
{
    /// <summary>
    /// The voter is held up again and again, each time for less than a harmful time. So it waits four times as long for its leader, where there is time for that. Then the
    /// leader freezes.
    /// </summary>
    [Theory]
    [InlineData(3, 60, 0.3, 1)]
    [InlineData(3, 60, 20, 1)]
    [InlineData(1, 1, 0.6, 1)]
    public void A_late_voter_elects_another_leader_before_all_give_up(double isolation, double exclusion, double election, int late)
    {
        using var cluster = new OracleCluster(1, 5, options: new()
        {
            IsolationTimeout = TimeSpan.FromSeconds(isolation),
            ExclusionTimeout = TimeSpan.FromSeconds(exclusion),
            ElectionTimeout = TimeSpan.FromSeconds(election),
        });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var leader = cluster.Leader!;
        var voters = cluster.Alive.Where(process => process != leader && process.Oracle.Replica is { Log.IsVoter: true }).Take(late).ToList();
        Hold();
        cluster.Run(5);
        Assert.Equal(leader, cluster.Leader);
        Assert.Equal(5, cluster.Alive.Count());
        leader.Node.Pause(TimeSpan.FromHours(1));
        bool another = cluster.RunUntil(() => cluster.Alive.Any(process => process != leader && process.Oracle.Replica?.Services.Active == true), isolation + exclusion);
        Assert.True(another && cluster.Alive.Count(process => process != leader) == 4, cluster.Describe());
        cluster.AssertNoViolations();

        void Hold()
        {
            foreach (var voter in voters) voter.Node.Pause(TimeSpan.FromMilliseconds(150));
            cluster.Simulation.After(TimeSpan.FromMilliseconds(200), Hold);
        }
    }
}
