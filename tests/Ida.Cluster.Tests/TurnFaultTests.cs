using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>A turn throws at a random moment: the node ends loudly and completely, and the others go on.</summary>
public sealed class TurnFaultTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Fact]
    public void F2_a_node_whose_turn_throws_ends_all_its_calls_with_the_cause_and_the_others_go_on() =>
        SimulationRunner.ForEachSeed(45, $"*{nameof(F2_a_node_whose_turn_throws_ends_all_its_calls_with_the_cause_and_the_others_go_on)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var fault = new InvalidDataException("on purpose");
                var groups = new List<Group>();
                for (int i = 0; i < 4; i++)
                {
                    var member = await cluster.StartAsync();
                    groups.Add(await member.Node.JoinAsync("shop", static g => g.Handle<string>("say", static (_, _) => { }).OnQuery<string, string>("ask", static (_, text) => text)));
                }
                var dhts = await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(new() { ShardSize = 2, TargetSize = 4 }, DhtWorld.Maps).AsTask()));
                await Task.WhenAll(dhts.Select(dht => dht.WhenInitialisedAsync()));
                int at = simulation.Random.Next(4), other = (at + 1) % 4;
                var (victim, group, map) = (cluster.Members[at], groups[at], dhts[at].Map<string, int>("ints"));
                var calls = new List<Task>();
                for (int i = 0; i < 20; i++)
                {
                    calls.Add(Begin(() => group.SendAsync("say", "hello").AsTask()));
                    calls.Add(Begin(() => group.OrderedSendAsync("say", "hello").AsTask()));
                    calls.Add(Begin(() => group.QueryToAsync<string, string>(group.CurrentView.RankOf(groups[other].Self), "ask", "well").AsTask()));
                    calls.Add(Begin(() => map.PutAsync($"key {i}", i).AsTask()));
                    calls.Add(Begin(() => map.GetAsync($"key {i}").AsTask()));
                    if (simulation.Random.Next(3) == 0) await simulation.Delay(TimeSpan.FromMicroseconds(simulation.Random.Next(500)));
                    if (i == 10) victim.Host.FaultInTurn((TurnPlace)(run.Seed % 3), fault);
                }
                for (int waited = 0; victim.Host.Alive; waited++)
                {
                    Assert.True(waited < 1_000);
                    await simulation.Delay(TimeSpan.FromMilliseconds(1));
                }
                await simulation.Delay(TimeSpan.FromMilliseconds(1));
                Assert.Equal(MembershipState.Faulted, victim.Node.State);
                foreach (var task in (Task[])[victim.Node.Completion, group.Completion, dhts[at].Completion]) Assert.Same(fault, CauseOf(task).InnerException);
                int told = 0;
                foreach (var call in calls)
                {
                    Assert.True(call.IsCompleted, "A call has not ended.");
                    if (call.IsCompletedSuccessfully) continue;
                    told++;
                    var error = call.Exception!.InnerException!;
                    Assert.Same(fault, (error is OutcomeUnknownException ? Assert.IsType<NodeFaultedException>(error.InnerException) : CauseOf(call)).InnerException);
                }
                Assert.True(told > 0);
                // The others notice, and go on.
                for (int waited = 0; groups[other].CurrentView.Members.Count > 3; waited++)
                {
                    Assert.True(waited < 10_000);
                    await simulation.Delay(TimeSpan.FromMilliseconds(1));
                }
                await dhts[other].Map<string, int>("ints").PutAsync("later", 1);
                await groups[other].OrderedSendAsync("say", "later");
            }, Limit);
        });

    // Some calls throw at once, and not through their task.
    private static async Task Begin(Func<Task> call) => await call();

    private static NodeFaultedException CauseOf(Task task) => Assert.IsType<NodeFaultedException>(task.Exception!.InnerException);
}
