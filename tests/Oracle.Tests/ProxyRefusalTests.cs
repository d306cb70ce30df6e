using GroupCore.Membership;
using Ida.Testing;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>
/// A process behind a proxy does not own its address. A refusal there comes from the proxy, and says no more about the process than silence does. So it counts only when it
/// has lasted as long as a silence must.
/// </summary>
public sealed class ProxyRefusalTests
{
    /// <summary>As with a proxy that restarts: every node that dialled through it is refused, and it is back a moment later. The process answers all the while.</summary>
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(5)]
    [InlineData(12)]
    public void A_refusal_at_a_proxy_for_a_moment_costs_nobody_his_place(int processes)
    {
        using var cluster = new OracleCluster(1, processes, shape: (node, options) => options with { OwnsAddress = node.Name != "p1" });
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader is not null && cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var hidden = cluster[1];
        Assert.NotEqual(hidden, cluster.Leader);
        var others = cluster.Alive.Where(process => process != hidden).ToList();
        foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(hidden.Oracle.Self, Suspicion.Refused));
        cluster.Run(0.05);
        foreach (var other in others) other.Node.Post(() => other.Oracle.Withdraw(hidden.Oracle.Self));
        cluster.Run(2);
        Assert.True(cluster.Alive.Count() == processes && hidden.Oracle.State == MembershipState.Active, cluster.Describe());
        cluster.AssertNoViolations();
    }

    /// <summary>The proxy in front of both is gone, with all its connections, for less than a silence may last. A link tries it again only a second later.</summary>
    [Theory]
    [InlineData(SimCarrier.Memory)]
    [InlineData(SimCarrier.Mesh)]
    public void A_proxy_that_is_gone_for_half_a_second_costs_nobody_his_place(SimCarrier carrier)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = new OracleCluster(new Simulation(new SimulationOptions { Seed = seed, Carrier = carrier, ReplayCommand = "the test" }), 2, shape: (_, options) => options with { OwnsAddress = false, Seeds = [Simulation.AddressOf(0, carrier)] });
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader is not null && cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
            cluster.Run(3);
            var network = cluster.Simulation.Network;
            foreach (var process in cluster.Lives) network.RefuseDials(process.Node, refuses: true);
            network.Break(cluster.Lives[0].Node, cluster.Lives[1].Node);
            cluster.Run(0.5);
            foreach (var process in cluster.Lives) network.RefuseDials(process.Node, refuses: false);
            cluster.Run(3);
            Assert.True(cluster.Alive.Count() == 2 && cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), $"seed {seed}: {cluster.Describe()}");
            cluster.AssertNoViolations();
        }
    }

    /// <summary>All eight watchers see the refusal. At the process's own address, two of them would be proof.</summary>
    [Theory]
    [InlineData(nameof(Suspicion.Refused), true)]
    [InlineData(nameof(Suspicion.Refused), false)]
    [InlineData(nameof(Suspicion.Replaced), true)]
    [InlineData(nameof(Suspicion.Replaced), false)]
    public void A_refusal_at_a_proxy_counts_when_it_lasts_as_long_as_a_silence_has_to(string named, bool owns)
    {
        var evidence = Enum.Parse<Suspicion>(named);
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, MaxClockDrift = 0, ReplayCommand = "the test" });
        var (node, detector, state, ids) = Weighing(simulation, owns);
        var watchers = new MonitoringRing().WatchersOf(ids[0], state);
        Assert.Equal(8, watchers.Count);
        // If another process answers at the address, links to the old one are over, even behind a proxy.
        bool atOnce = owns || evidence == Suspicion.Replaced;
        for (int tenths = 0; tenths < 8; tenths++)
        {
            if (tenths % 5 == 0)
                foreach (var watcher in watchers) detector.Suspect(ids[0], watcher, evidence, 0);
            Assert.Equal(atOnce ? [new Exclusion(ids[0], owns)] : [], Decided());
            Pass(node, 0.1);
        }
        Assert.Equal([new Exclusion(ids[0], owns)], Decided());

        // The process was heard from meanwhile. When it is refused again, the time starts anew.
        foreach (var watcher in watchers) detector.Withdraw(ids[0], watcher);
        foreach (var watcher in watchers) detector.Suspect(ids[0], watcher, evidence, 0);
        Assert.Equal(atOnce, Decided().Count > 0);

        List<Exclusion> Decided() => detector.Decide(state, ids.Count, default, static _ => true);
    }

    /// <summary>One process suspects another for ten seconds, and the first one's proxy restarts at their end. The other process is still excluded.</summary>
    [Fact]
    public void A_refusal_at_a_proxy_for_a_moment_says_nothing_against_a_process_that_suspects_another()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, MaxClockDrift = 0, ReplayCommand = "the test" });
        var (node, detector, state, ids) = Weighing(simulation, owns: false);
        var subject = ids[1];
        var observer = new MonitoringRing().WatchersOf(subject, state)[0];
        for (int second = 0; second <= 10; second++)
        {
            detector.Suspect(subject, observer, Suspicion.Timeout, 0);
            Pass(node, 1);
        }
        foreach (var watcher in new MonitoringRing().WatchersOf(observer, state)) detector.Suspect(observer, watcher, Suspicion.Refused, 0);
        Assert.Equal([new Exclusion(subject, false)], detector.Decide(state, ids.Count, default, static _ => true));
    }

    /// <summary>Lets time pass, then runs a turn, since a node knows only the time of its last turn.</summary>
    private static void Pass(SimNode node, double seconds)
    {
        node.Simulation.Run(TimeSpan.FromSeconds(seconds));
        node.Post(static () => { });
        node.Simulation.Run(TimeSpan.FromMilliseconds(1));
    }

    /// <summary>A detector that weighs suspicions against twelve processes.</summary>
    private static (SimNode Host, CutDetector Detector, OracleState State, List<ProcessId> Ids) Weighing(Simulation simulation, bool owns)
    {
        var host = simulation.AddNode();
        var node = host.Node;
        var state = new OracleState(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
        for (ulong number = 1; number <= 12; number++)
            state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second, owns))]));
        return (host, new(node, new(), new()), state, state.Processes.Select(process => process.Id).ToList());
    }
}
