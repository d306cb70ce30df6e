using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Cluster.Tests;

public sealed class ClusterTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Fact]
    public void Five_nodes_form_a_cluster_and_a_group_that_agrees_on_order() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(Five_nodes_form_a_cluster_and_a_group_that_agrees_on_order)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var heard = new List<string>[5];
            cluster.Simulation.RunAsync(async () =>
            {
                var groups = new List<Group>();
                for (int i = 0; i < 5; i++)
                {
                    var log = heard[i] = [];
                    var member = await cluster.StartAsync();
                    groups.Add(await member.Node.JoinAsync("shop", g => g.Handle<string>("say", (from, text) => log.Add(text))));
                }
                await Task.WhenAll(groups.Select(async (group, i) => await group.OrderedSendAsync("say", $"hello from {i}")));
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(1));
            }, Limit);
            Assert.Equal(5, heard[0].Count);
            Assert.All(heard, log => Assert.Equal(heard[0], log));
        });
}
