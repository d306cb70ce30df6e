using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Whoever listens at a seed's address does not keep nodes from starting.</summary>
public sealed class FalseSeedTests
{
    /// <summary>Each start ends after <see cref="IdaNodeOptions.StartTimeout"/>, and the next knows nothing of it: it has to be done before.</summary>
    [Fact]
    public void A_stranger_at_the_address_of_the_first_seed_does_not_outwait_nodes_that_are_started_three_times()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 3, ReplayCommand = "the test" });
        var seeds = Enumerable.Range(0, 3).Select(Simulation.AddressOf).ToList();
        _ = new Asker(simulation.AddNode("stranger"), [seeds[1], seeds[2]]);
        var hosts = new[] { new SimLifeHost(simulation, "second", seeds, null), new SimLifeHost(simulation, "third", seeds, null) };
        simulation.RunAsync(async () =>
        {
            foreach (bool last in (bool[])[false, false, true])
            {
                var starts = hosts.Select(host => IdaNode.HostAsync(new() { Cluster = "sim" }, host, CancellationToken.None).AsTask()).ToList();
                try
                {
                    await Task.WhenAll(starts);
                    return;
                }
                catch (ClusterUnreachableException) when (!last)
                {
                    // Whoever operates it starts it again.
                }
            }
        }, TimeSpan.FromMinutes(5));
    }
}
