using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>What is asked for, or waits, at a node that is being disposed of.</summary>
public sealed class DepartureTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(5);

    /// <summary>The only one that holds the state of a group stops while another one loads it: the group is over, and it has left.</summary>
    [Fact]
    public void R_a_group_whose_only_holder_is_disposed_of_completes_there_though_another_loads() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(R_a_group_whose_only_holder_is_disposed_of_completes_there_though_another_loads)}", run =>
        {
            var simulation = run.Start();
            var cluster = new SimCluster(simulation);
            simulation.RunAsync(async () =>
            {
                var voter = await cluster.StartAsync();
                var holder = await cluster.StartAsync(null, GroupCore.Runtime.Rule.None, node => new DelayingNode(simulation, node, static work => work is GroupCore.Groups.State.StateCut ? TimeSpan.FromSeconds(30) : TimeSpan.Zero));
                var group = await holder.Node.JoinAsync("shop", static g => g.Checkpoint(static _ => { }, static _ => { }));
                Exception? error = null;
                var joining = simulation.Spawn(async () => error = await Record.ExceptionAsync(async () => await voter.Node.JoinAsync("shop", static g => g.Checkpoint(static _ => { }, static _ => { }))));
                while (group.CurrentView.Members.Count < 2) await simulation.Delay(TimeSpan.FromMilliseconds(10));
                await holder.Node.DisposeAsync();
                Assert.True(group.Completion.IsCompletedSuccessfully, $"{group.Completion.Exception?.InnerException}");
                await joining;
                Assert.IsType<JoinRefusedException>(error);
            }, s_limit);
        });
}
