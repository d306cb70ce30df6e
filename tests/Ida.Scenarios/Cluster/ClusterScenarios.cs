using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>Schedules of whole nodes: Oracle, groups and DHT together.</summary>
internal static class ClusterScenarios
{
    private static readonly FaultPlan s_plan = new() { Nodes = 6, MaxFaults = 5, MaxDown = 1, Within = TimeSpan.FromSeconds(4), MaxDuration = TimeSpan.FromSeconds(2) };

    /// <summary>Groups under the real Oracle, judged by the checkers of G1-G9 and G12-G14 (B1).</summary>
    public static Scenario Groups { get; } = new("cluster-groups", run => new WatchedGroup(run).Run(s_plan with { Within = TimeSpan.FromSeconds(3) }));

    /// <summary>Clients of a DHT under random faults and a join, judged by the strict-serializability checker (ida 9.3).</summary>
    public static Scenario History { get; } = new("cluster-history", run =>
    {
        var simulation = run.Case.Start();
        var faults = run.Case.Faults(s_plan);
        var dht = new DhtCluster(simulation, new() { Timeout = TimeSpan.FromSeconds(20) }) { Without = run.Without };
        var report = dht.Run(6, async () =>
        {
            faults.Inject(simulation);
            await simulation.Delay(TimeSpan.FromSeconds(2));
            dht.Join();
            await simulation.Delay(TimeSpan.FromSeconds(5));
        });
        run.History = dht.Recorder.ToHistory();
        (run.Lost, run.Work) = (dht.Lost, dht.Clients.Sum(client => client.Succeeded));
        report.ThrowIfFailed();
    });
}
