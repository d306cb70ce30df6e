using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>A stranger that listens at a seed's address does not keep nodes from starting.</summary>
public sealed class FalseSeedTests
{
    /// <summary>A start gives up after <see cref="IdaNodeOptions.StartTimeout"/>, and the next knows nothing of it: a node must get past the stranger within one start.</summary>
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
                    // The operator starts it again.
                }
            }
        }, TimeSpan.FromMinutes(5));
    }
}
