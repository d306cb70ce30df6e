using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>Founding, registration, growth of the Oracle, joining, kills: one run each.</summary>
public sealed class FirstStepsTests
{
    private static readonly GroupOptions Options = new();

    [Fact]
    public void A_single_process_founds_registers_and_joins_alone()
    {
        using var cluster = new OracleCluster(1, 1);
        cluster.OnActive = process => process.Oracle.Join("g", Options, "");
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 2), cluster.Describe());
        Assert.True(cluster.Simulation.Now < TimeSpan.FromMilliseconds(1_500));
        Assert.True(cluster[0].Oracle.LeaseUntil > 0);
        cluster.AssertNoViolations();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void Five_processes_find_each_other_and_the_Oracle_grows_to_three(int seeds)
    {
        using var cluster = new OracleCluster(2, 5, seeds);
        cluster.OnActive = process => process.Oracle.Join("g", Options, "");
        cluster.StartAll(TimeSpan.FromSeconds(1));
        Assert.True(cluster.RunUntil(() => cluster.Lives.Count(p => p.Groups.ViewOf("g")?.Members.Count == 5) == 5, 10), cluster.Describe());
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        Assert.Single(cluster.Lives.Select(p => p.Oracle.System).Distinct());
        cluster.AssertNoViolations();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_killed_process_is_excluded_within_150_ms_or_half_a_second_when_it_led(bool leader)
    {
        using var cluster = new OracleCluster(3, 5);
        cluster.OnActive = process => process.Oracle.Join("g", Options, "");
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 5, 10), cluster.Describe());
        cluster.Run(3);
        var victim = leader ? cluster.Leader! : cluster.Alive.Last();
        victim.Node.Crash();
        var killed = cluster.Simulation.Now;
        Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 5), cluster.Describe());
        var took = cluster.Simulation.Now - killed;
        Assert.True(took < TimeSpan.FromMilliseconds(leader ? 500 : 150), $"it took {took}");
        cluster.AssertNoViolations();
    }

    [Fact]
    public void A_silent_death_is_decided_within_three_and_a_half_seconds_and_waits_for_the_lease()
    {
        using var cluster = new OracleCluster(4, 5);
        cluster.OnActive = process => process.Oracle.Join("g", Options, "");
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 5, 10), cluster.Describe());
        cluster.Run(3);
        cluster.Alive.Last().Node.Crash(hostAnswers: false);
        var killed = cluster.Simulation.Now;
        Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 10), cluster.Describe());
        var took = cluster.Simulation.Now - killed;
        Assert.True(took < TimeSpan.FromSeconds(3.5), $"it took {took}");
        cluster.AssertNoViolations();
    }
}
