using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>What happens to a node and its callers when the node ends.</summary>
public sealed class EndingTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Fact]
    public void F29_a_departure_is_not_lost_to_a_full_command_queue() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(F29_a_departure_is_not_lost_to_a_full_command_queue)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            View? last = null;
            cluster.Simulation.RunAsync(async () =>
            {
                for (int i = 0; i < 3; i++)
                {
                    var member = await cluster.StartAsync();
                    await member.Node.JoinAsync("shop", g => g.OnView(view => last = view));
                }
                var leaver = cluster.Members[2];
                var id = leaver.Node.Id;
                while (leaver.Host.Node.TryPost(new Nothing()))
                {
                    // Until the queue is full.
                }
                await leaver.Node.DisposeAsync();
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(10));
                Assert.Contains(id, last!.Left);
                Assert.Empty(last.Failed);
            }, Limit);
        });

    private sealed class Nothing : NodeCommand
    {
        public override void Run()
        {
        }

        public override void Abandon(Exception reason)
        {
        }
    }
}
