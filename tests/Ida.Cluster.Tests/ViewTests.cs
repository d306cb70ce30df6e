using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Over the whole stack, oracle.md#what-comes-together-is-one-entry: requests that come together change the view together.</summary>
public sealed class ViewTests
{
    [Fact]
    public void B9_joins_failures_and_leaves_within_20_ms_take_at_most_two_views() =>
        SimulationRunner.ForEachSeed(100, $"*{nameof(B9_joins_failures_and_leaves_within_20_ms_take_at_most_two_views)}", run =>
        {
            // Without the links' stragglers of 15 ms: the 20 ms are counted where the requests arrive.
            var cluster = new SimCluster(run.Start(new() { Link = new() { TailChance = 0 } }));
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var members = new List<(SimMember Member, Group Group)>();
                for (int i = 0; i < 8; i++)
                {
                    var member = await cluster.StartAsync();
                    members.Add((member, await member.Node.JoinAsync("crowd")));
                }
                var waiting = new List<SimMember>();
                for (int i = 0; i < 8; i++) waiting.Add(await cluster.StartAsync());
                await simulation.Delay(TimeSpan.FromSeconds(2));
                var seen = new List<View>();
                var watch = simulation.Spawn(async () =>
                {
                    await foreach (var view in members[0].Group.Views()) seen.Add(view);
                });

                // The Oracle's voters stay: how fast a view comes when they die is measured elsewhere. All happens within 8 ms, so that all requests
                // reach the Oracle's leader within 20 ms.
                var joining = new List<Task>();
                for (int i = 0; i < 8; i++)
                {
                    var joiner = waiting[i];
                    joining.Add(simulation.Spawn(async () => await joiner.Node.JoinAsync("crowd")));
                    if (i < 3) members[7 - i].Member.Host.Crash();
                    if (i is 3 or 4) joining.Add(simulation.Spawn(async () => await members[i].Group.LeaveAsync()));
                    await simulation.Delay(TimeSpan.FromMilliseconds(1));
                }
                await Task.WhenAll(joining);
                await simulation.Delay(TimeSpan.FromSeconds(2));
                int changes = seen.Skip(1).Count(view => view.Joined.Count + view.Left.Count + view.Failed.Count > 0);
                Assert.Equal(8 + 8 - 3 - 2, members[0].Group.CurrentView.Members.Count);
                Assert.True(changes <= 2, $"{changes} views: {string.Join("; ", seen.Select(view => $"+{view.Joined.Count} -{view.Left.Count} x{view.Failed.Count}"))}");
                await members[0].Group.DisposeAsync();
                await watch;
            }, TimeSpan.FromMinutes(5));
        });

    [Fact]
    public void F13_readers_see_views_in_order_whatever_the_order_of_completions() =>
        SimulationRunner.ForEachSeed(20, $"*{nameof(F13_readers_see_views_in_order_whatever_the_order_of_completions)}", run =>
        {
            var cluster = new SimCluster(run.Start(new() { ShuffleCompletions = true }));
            var seen = new List<ulong>();
            cluster.Simulation.RunAsync(async () =>
            {
                var busy = new TaskCompletionSource();
                var first = await cluster.StartAsync();
                var group = await first.Node.JoinAsync("shop", g => g.HandleAsync<string>("wait", async (_, _) => await busy.Task));
                var reading = cluster.Simulation.Spawn(async () =>
                {
                    await foreach (var view in group.Views()) seen.Add(view.Id);
                });
                await group.SendAsync("wait", "here");
                // The views gather behind the busy handler, so they are handled as one batch that ends in one turn.
                for (int i = 0; i < 4; i++)
                {
                    var other = await cluster.StartAsync();
                    // Whether it gets its state in time does not matter here.
                    _ = other.Node.JoinAsync("shop", g => g.HandleAsync<string>("wait", static (_, _) => default)).AsTask();
                    await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(500));
                }
                // Set outside a synchronization context, so that the handler goes on in the simulation.
                cluster.Simulation.After(TimeSpan.Zero, busy.SetResult);
                await cluster.Simulation.Delay(TimeSpan.FromSeconds(5));
                Assert.True(seen.Count > 4, $"{seen.Count} views");
                await group.LeaveAsync();
                await reading;
            }, TimeSpan.FromMinutes(5));
            Assert.Equal(Enumerable.Range(0, seen.Count).Select(i => seen[0] + (ulong)i), seen);
        });
}
