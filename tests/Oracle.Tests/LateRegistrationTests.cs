using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>What a program asks for before its process is registered is requested from the Oracle after the registration, however long that takes.</summary>
public sealed class LateRegistrationTests
{
    /// <summary>
    /// A seed that hears no majority tells of the system, and nobody can register the new process. After 5 s the process looks for a system anew; the join must not be lost by
    /// that.
    /// </summary>
    [Fact]
    public void A_join_outlives_a_system_that_was_given_up_before_it_registered_this_process()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = new OracleCluster(seed, 4);
            var late = cluster[3];
            var first = cluster.Lives.Where(process => process != late).ToList();
            foreach (var process in first) process.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
            cluster.Run(3);
            cluster.Simulation.Network.Partition([cluster[0].Node, late.Node], [cluster[1].Node], [cluster[2].Node]);
            Assert.True(cluster.RunUntil(() => first.TrueForAll(process => process.Oracle.State == MembershipState.Blocked), 10), cluster.Describe());
            late.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => !late.Oracle.System.IsNone, 3), cluster.Describe());
            late.Node.Post(() => late.Oracle.Join("g", new(), ""));
            cluster.Run(7);
            Assert.Equal(MembershipState.Starting, late.Oracle.State);
            cluster.Simulation.Network.Heal();
            Assert.True(cluster.RunUntil(() => late.Oracle.State == MembershipState.Active, 15), cluster.Describe());
            Assert.True(cluster.RunUntil(() => late.Groups.ViewOf("g") is not null, 5), cluster.Describe());
            cluster.AssertNoViolations();
        }
    }
}
