using GroupCore.Membership;
using Ida.Testing;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>A process that is alone in its system gives way to a larger system, and its groups end with it. The mere claim that there is a larger system is not enough.</summary>
public sealed class GivingWayTests
{
    /// <summary>The stranger says that other nodes are replicas, or that it is one itself although it cannot be dialled.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_lone_process_does_not_give_way_to_what_a_stranger_tells_of(bool namesItself)
    {
        using var cluster = Alone(seeds: 1);
        var stranger = cluster.Simulation.AddNode("stranger");
        cluster[0].Node.Links.Doubted.Add(stranger.Address);
        var told = namesItself ? new Replica(stranger.Id, stranger.Address) : LogBus.ReplicaOf(7);
        for (int i = 0; i < 5; i++)
        {
            OracleSurface.Say(stranger, cluster[0], new OracleIs(new([told, LogBus.ReplicaOf(8)], []), told), new SystemId(1, 2));
            cluster.Run(0.3);
        }
        Assert.True(cluster[0].Oracle.State == MembershipState.Active && cluster[0].Groups.ViewOf("g") is { Members.Count: 1 }, cluster.Describe());
        Assert.Contains(cluster[0].Groups.Events, text => text.Contains("SplitFoundation", StringComparison.Ordinal));
        cluster.AssertNoViolations();
    }

    /// <summary>A replica of the larger system tells of it at its own address; or the node at a seed's address does, which was asked and need be no replica.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_lone_process_gives_way_to_what_a_replica_or_a_seed_tells_of(bool replica)
    {
        using var cluster = Alone(seeds: replica ? 1 : 2);
        var teller = cluster[1].Node;
        var told = replica ? new Replica(teller.Id, teller.Address) : LogBus.ReplicaOf(7);
        OracleSurface.Say(teller, cluster[0], new OracleIs(new([told, LogBus.ReplicaOf(8)], []), told), new SystemId(1, 2));
        cluster.Run(0.1);
        Assert.Equal(MembershipState.Excluded, cluster[0].Oracle.State);
        Assert.Contains(cluster[0].Groups.Events, text => text.Contains("gives way", StringComparison.Ordinal));
    }

    /// <summary>On production links, a node that dialled in is not confirmed until it was dialled itself. The voters dial the process, and it dials one of them.</summary>
    [Fact]
    public void A_lone_process_that_was_cut_off_gives_way_over_real_links_too()
    {
        var seed = Simulation.AddressOf(0, SimCarrier.Mesh);
        using var cluster = new OracleCluster(new Simulation(new SimulationOptions { Seed = 2, Carrier = SimCarrier.Mesh, ReplayCommand = "the test" }), 3, shape: (_, options) => options with { Seeds = [seed] });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var (first, others) = (cluster.Lives[0], cluster.Lives.Skip(1).ToList());
        first.Node.Crash();
        var again = cluster.Restart(first, sameSeeds: true);
        cluster.Simulation.Network.Partition([again.Node], others.ConvertAll(process => process.Node));
        again.StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => again.Oracle.State == MembershipState.Active, 5), cluster.Describe());
        cluster.Run(5);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.RunUntil(() => again.Oracle.State == MembershipState.Excluded, 5), cluster.Describe());
        Assert.Contains(again.Groups.Events, text => text.Contains("gives way", StringComparison.Ordinal));
        Assert.All(others, other => Assert.Equal(MembershipState.Active, other.Oracle.State));
    }

    /// <summary>The first of two processes founds; the other never starts.</summary>
    private static OracleCluster Alone(int seeds)
    {
        var cluster = new OracleCluster(1, 2, seeds);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster[0].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Groups.ViewOf("g") is { Members.Count: 1 }, 10), cluster.Describe());
        return cluster;
    }
}
