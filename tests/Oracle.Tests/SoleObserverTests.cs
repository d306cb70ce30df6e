using GroupCore.Membership;
using Ida.Testing;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>
/// A process that was held up trusts its own observations less, and waits longer before it reports one. If no other process could report it, that is all: its report counts in
/// full.
/// </summary>
public sealed class SoleObserverTests
{
    /// <summary>
    /// The founder is held up once, and its health is poor. Health recovers only with answers of watched processes, and the only one has fallen silent. Before, that process
    /// stayed in the system for ten seconds after it was suspected.
    /// </summary>
    [Theory]
    [InlineData(0.05)]
    [InlineData(1)]
    [InlineData(3)]
    public void A_process_that_freezes_after_the_only_other_one_was_held_up_is_out_in_five_times_the_time(double after)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = Running(seed, 2);
            var (observer, frozen) = HoldUpTheLeader(cluster, after);
            frozen.Node.Pause(TimeSpan.FromHours(1));
            // Rounds take 1 s instead of 200 ms; one more for the round in which the process was last heard. The lease is over by then.
            Assert.True(cluster.RunUntil(() => observer.Groups.ViewOf("g") is { Members.Count: 1 }, 5.3), cluster.Describe());
            cluster.AssertNoViolations();
        }
    }

    /// <summary>A refusal is something seen, not something missed, so it takes no longer than usual.</summary>
    [Fact]
    public void A_process_that_dies_after_the_only_other_one_was_held_up_is_out_at_once()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = Running(seed, 2);
            var (observer, dead) = HoldUpTheLeader(cluster, 0.5);
            dead.Node.Crash();
            Assert.True(cluster.RunUntil(() => observer.Groups.ViewOf("g") is { Members.Count: 1 }, 1.3), cluster.Describe());
            cluster.AssertNoViolations();
        }
    }

    /// <summary>Both processes are held up again and again, for a harmless time each. Neither loses its place.</summary>
    [Fact]
    public void Two_processes_that_are_held_up_for_less_than_the_time_both_stay()
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = Running(seed, 2);
            for (int i = 0; i < 30; i++)
            {
                cluster.Alive.ElementAt(cluster.Simulation.Random.Next(2)).Node.Pause(TimeSpan.FromMilliseconds(cluster.Simulation.Random.Next(300, 500)));
                cluster.Run(0.6);
            }
            Assert.Equal(2, cluster.Alive.Count());
            cluster.AssertNoViolations();
        }
    }

    /// <summary>A suspicion that counts half waits for another observer's, if one is left that could make the same observation.</summary>
    [Fact]
    public void A_suspicion_by_a_process_in_poor_health_counts_half_only_if_another_process_could_have_it_too()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode().Node;
        var state = new OracleState(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
        for (ulong number = 1; number <= 3; number++)
            state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second))]));
        var ids = state.Processes.Select(process => process.Id).ToList();
        var detector = new CutDetector(node, new(), new());

        detector.Suspect(ids[1], ids[0], Suspicion.Timeout, 8);
        detector.Suspect(ids[1], ids[2], Suspicion.Timeout, 0);
        Assert.Empty(Decided());
        detector.Suspect(ids[1], ids[0], Suspicion.Timeout, 3);
        Assert.Equal([ids[1]], Decided());

        // Both other processes are silent. Each counts as an observer that cannot speak against the other.
        detector.Clear();
        detector.Suspect(ids[1], ids[0], Suspicion.Timeout, 8);
        Assert.Empty(Decided());
        detector.Suspect(ids[2], ids[0], Suspicion.Timeout, 8);
        Assert.Equal([ids[1], ids[2]], Decided());

        List<ProcessId> Decided() => detector.Decide(state, 3, default, static _ => true).ConvertAll(static failure => failure.Process);
    }

    private static (OracleCluster.Process Observer, OracleCluster.Process Other) HoldUpTheLeader(OracleCluster cluster, double after)
    {
        var leader = cluster.Leader!;
        leader.Node.Pause(TimeSpan.FromMilliseconds(400));
        cluster.Run(0.4 + after);
        Assert.Equal(2, cluster.Alive.Count());
        return (leader, cluster.Alive.Single(process => process != leader));
    }

    private static OracleCluster Running(ulong seed, int processes)
    {
        var cluster = new OracleCluster(seed, processes);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == processes, 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }
}
