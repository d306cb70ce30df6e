using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>The whole stack: Oracle, groups and DHT under faults, judged by the strict-serializability checker.</summary>
public sealed class HistoryTests
{
    [Fact]
    public void I9_3_histories_without_faults_are_strictly_serializable() =>
        SimulationRunner.ForEachSeed(2, $"*{nameof(I9_3_histories_without_faults_are_strictly_serializable)}", run =>
        {
            var dht = new DhtCluster(run.Start());
            var report = dht.Run(5, () => dht.Simulation.Delay(TimeSpan.FromSeconds(1)));
            report.ThrowIfFailed();
            Assert.True(dht.Clients.Sum(client => client.Succeeded) > 500, $"{dht.Clients.Sum(client => client.Succeeded)} operations");
            Assert.All(dht.Clients, client => Assert.Equal(0, client.Unknown));
        });

    [Fact]
    public void I9_3_histories_with_a_crash_are_strictly_serializable() =>
        SimulationRunner.ForEachSeed(3, $"*{nameof(I9_3_histories_with_a_crash_are_strictly_serializable)}", run =>
        {
            var dht = new DhtCluster(run.Start());
            var report = dht.Run(6, async () =>
            {
                await dht.Simulation.Delay(TimeSpan.FromMilliseconds(300));
                dht.Members[dht.Simulation.Random.Next(6)].Host.Crash();
                await dht.Simulation.Delay(TimeSpan.FromSeconds(2));
            });
            report.ThrowIfFailed();
        });

    [Fact]
    public void I9_3_histories_under_random_faults_and_joins_are_strictly_serializable()
    {
        int runs = 0, lost = 0;
        SimulationRunner.ForEachSeed(100, $"*{nameof(I9_3_histories_under_random_faults_and_joins_are_strictly_serializable)}", ClusterScenarios.History.Case(done: run =>
        {
            runs++;
            if (run.Lost) lost++;
        }));
        Assert.True(runs < 20 || lost * 20 <= runs, $"the faults ended the DHT in {lost} of {runs} runs");
    }
}
