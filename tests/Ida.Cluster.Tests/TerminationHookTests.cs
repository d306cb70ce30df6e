using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>What hooks send one another in a view change is handled everywhere before the next view (views-and-flush.md#acknowledge-with-own-messages-handled,
/// #hook-messages-wait-for-the-wedge).</summary>
public sealed class TerminationHookTests
{
    private const int Count = 4;

    [Fact]
    public void Echoes_of_all_survivors_come_before_the_next_view() =>
        SimulationRunner.ForEachSeed(100, $"*{nameof(Echoes_of_all_survivors_come_before_the_next_view)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            var logs = new List<List<string>>();
            var groups = new List<Group>();
            simulation.RunAsync(async () =>
            {
                for (int i = 0; i < Count; i++)
                {
                    var member = await cluster.StartAsync();
                    var log = new List<string>();
                    logs.Add(log);
                    groups.Add(await member.Node.JoinAsync("hooks", g => g
                        .Handle<string>("echo", (from, text) => log.Add($"{text} from {from.Id}"))
                        .OnView(view => log.Add($"view {view.Members.Count}"))
                        .OnViewProposed((proposal, context) => _ = simulation.Spawn(() => EchoAsync(simulation, member.Node.Id, proposal, context)))));
                }
                await simulation.Delay(TimeSpan.FromSeconds(2));
                int victim = simulation.Random.Next(Count);
                cluster.Members[victim].Host.Crash();
                for (int i = 0; i < 1_000 && groups.Where((_, at) => at != victim).Any(group => group.CurrentView.Members.Count == Count); i++)
                    await simulation.Delay(TimeSpan.FromMilliseconds(10));
                for (int i = 0; i < Count; i++)
                {
                    if (i == victim) continue;
                    int next = logs[i].LastIndexOf($"view {Count - 1}"), before = logs[i].LastIndexOf($"view {Count}");
                    Assert.True(next > before, string.Join("; ", logs[i]));
                    foreach (var other in groups.Where((_, at) => at != i && at != victim))
                        Assert.Contains($"echo {Count - 1} from {other.Self}", logs[i][before..next]);
                }
            }, TimeSpan.FromMinutes(5));
        });

    // Takes some time before it is done, like a hook that has work to finish.
    private static async Task EchoAsync(Simulation simulation, ProcessId self, Proposal proposal, TerminationContext context)
    {
        foreach (var survivor in context.Survivors)
            if (survivor != self) await context.SendAsync(context.View.RankOf(survivor), "echo", $"echo {proposal.Survivors.Count}");
        await simulation.Delay(TimeSpan.FromMilliseconds(simulation.Random.Next(20)));
        context.Done();
    }
}
