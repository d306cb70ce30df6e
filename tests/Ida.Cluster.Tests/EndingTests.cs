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

    [Fact]
    public void F18_callers_run_turns_again_when_the_last_group_with_inline_handlers_is_over() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(F18_callers_run_turns_again_when_the_last_group_with_inline_handlers_is_over)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var member = await cluster.StartAsync();
                var node = (Node)member.Host.Node;
                Assert.True(node.LendsTurns);
                var first = await member.Node.JoinAsync("first", g => g.Inline().Handle<string>("say", static (_, _) => { }));
                var second = await member.Node.JoinAsync("second", g => g.Inline().Handle<string>("say", static (_, _) => { }));
                await member.Node.JoinAsync("third");
                Assert.False(node.LendsTurns);
                await first.OrderedSendAsync("say", "hello");
                await first.LeaveAsync();
                Assert.False(node.LendsTurns);
                await second.DisposeAsync();
                Assert.True(node.LendsTurns);
                // And again, for a new group.
                var fourth = await member.Node.JoinAsync("first", g => g.Inline());
                Assert.False(node.LendsTurns);
                await fourth.LeaveAsync();
                Assert.True(node.LendsTurns);
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
