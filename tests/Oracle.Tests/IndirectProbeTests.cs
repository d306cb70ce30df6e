using Ida.Testing;

namespace Oracle.Tests;

/// <summary>Two live processes do not reach each other, while all others reach both (failure-detection.md#others-are-asked-before-a-process-is-suspected).</summary>
public sealed class IndirectProbeTests
{
    /// <summary>The first case is the shortest allowed interval; a round is then no longer than the time between two checks of it.</summary>
    [Theory]
    [InlineData(100, 2)]
    [InlineData(100, 4)]
    [InlineData(100, 8)]
    [InlineData(200, 4)]
    // The way through another process has four hops, and 100 ms of the round are left for it.
    [InlineData(200, 4, 30)]
    public void One_broken_link_costs_nobody_his_place(int interval, int rounds, int hop = 1)
    {
        var link = new LinkModel { MinLatency = TimeSpan.FromMilliseconds(hop - 1), MaxLatency = TimeSpan.FromMilliseconds(hop) };
        using var cluster = new OracleCluster(1, 4, link: link, options: new() { ProbeInterval = TimeSpan.FromMilliseconds(interval), ProbeRounds = rounds });
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 4, 10), cluster.Describe());
        cluster.Run(3);
        var two = cluster.Alive.Where(process => process != cluster.Leader).TakeLast(2).ToList();
        cluster.Simulation.Network.Cut(two[0].Node, two[1].Node);
        cluster.Simulation.Network.Cut(two[1].Node, two[0].Node);
        cluster.Run(20);
        Assert.True(cluster.Alive.Count() == 4, cluster.Describe());
        cluster.AssertNoViolations();
    }
}
