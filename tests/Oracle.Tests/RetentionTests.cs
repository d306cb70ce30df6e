using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>The leader remembers nothing of requests and processes that are over.</summary>
public sealed class RetentionTests
{
    private static readonly GroupOptions Options = new();

    /// <summary>A flush that waits for a lease is reported again and again, each time with different content. Each report replaces the one before.</summary>
    [Fact]
    public void F5_repeated_view_completions_take_each_others_place()
    {
        using var cluster = Running(1, 4);
        var victim = cluster.Alive.Last(process => process != cluster.Leader);
        var member = cluster.Alive.First();
        victim.Node.Crash(hostAnswers: false);
        foreach (var other in cluster.Alive.ToList()) other.Node.Post(() => other.Oracle.Suspect(victim.Oracle.Self, Suspicion.FlushStall));
        int most = 0, reports = 0;
        while (member.Groups.ViewOf("g")!.Members.Count == 4 && cluster.Simulation.Now < TimeSpan.FromSeconds(30))
        {
            if (member.Groups.Groups.First().Wedge is { } proposal)
            {
                var some = proposal.Survivors.Skip(reports++ % 2).ToList();
                member.Node.Post(() => member.Oracle.CompleteView(proposal.Group, proposal.BaseView, proposal.Number, some));
            }
            cluster.Run(0.01);
            if (cluster.Leader is { } leader) most = Math.Max(most, leader.Oracle.Replica!.Services.Held.Requests);
        }
        Assert.True(reports > 20, $"{reports} reports");
        Assert.True(most <= 8, $"{most} requests are remembered for {reports} reports");
        cluster.Run(2);
        Assert.Equal(0, cluster.Leader!.Oracle.Replica!.Services.Held.Requests);
    }

    [Fact]
    public void F16_leases_of_those_that_are_gone_are_forgotten()
    {
        using var cluster = Running(2, 3);
        for (int i = 0; i < 12; i++)
        {
            var one = cluster.Alive.Last(process => process != cluster.Leader);
            one.Node.Crash(hostAnswers: i % 2 == 0);
            Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 2, 10), cluster.Describe());
            cluster.Restart(one).StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 3, 10), cluster.Describe());
        }
        cluster.Run(12);
        Assert.Equal((3, 0), cluster.Leader!.Oracle.Replica!.Services.Held);
    }

    private static OracleCluster Running(ulong seed, int processes)
    {
        var cluster = new OracleCluster(seed, processes);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", Options, ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == processes, 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }
}
