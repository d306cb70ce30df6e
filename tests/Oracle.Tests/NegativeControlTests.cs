using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>Without a rule, a checker of the schedules notices a violation (oracle.md#rules).</summary>
public sealed class NegativeControlTests
{
    private static readonly GroupOptions Options = new();

    [Fact]
    public void Half_of_the_voters_is_not_enough()
    {
        const int Most = 60;
        Assert.True(OracleScenarios.Wild.FirstWithout(nameof(OracleRules.RaftMajority), DecisionChecker.LogDiffers, Most) is not null, $"Half of the voters is enough: no checker noticed in {Most} runs.");
    }

    /// <summary>A member that is cut off and suspected by all others still holds its lease when the view without it could be decided. The view must wait for the lease.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Without_the_delay_of_StrictPrimary_an_excluded_member_still_acts(bool delay)
    {
        bool violated = false;
        for (ulong seed = 1; seed <= 10 && !violated; seed++)
        {
            using var cluster = new OracleCluster(seed, 5, without: delay ? null : nameof(OracleRules.StrictPrimaryDelay));
            cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", Options, ""));
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 5, 10), cluster.Describe());
            cluster.Run(3);
            var victim = cluster.Alive.Last(process => process != cluster.Leader);
            var others = cluster.Alive.Where(process => process != victim).ToList();
            cluster.Simulation.Network.Partition([victim.Node], others.ConvertAll(process => process.Node));
            foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(victim.Oracle.Self, Suspicion.FlushStall));
            cluster.RunUntil(() => others.TrueForAll(other => other.Groups.ViewOf("g")?.Members.Count == 4), 6);
            Assert.All(others, other => Assert.Equal(4, other.Groups.ViewOf("g")!.Members.Count));
            cluster.Run(1);
            violated = cluster.Checker.Violations.Count > 0;
        }
        Assert.Equal(!delay, violated);
    }
}
