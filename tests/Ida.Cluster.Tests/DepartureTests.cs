using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Calls that begin or wait at a node that is being disposed of.</summary>
public sealed class DepartureTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(5);

    /// <summary>The caller is told that its process leaves, and of no exclusion, after which programs exit or rejoin.</summary>
    [Fact]
    public void R_a_join_that_waits_for_its_view_when_its_node_is_disposed_of_hears_that_the_process_leaves() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(R_a_join_that_waits_for_its_view_when_its_node_is_disposed_of_hears_that_the_process_leaves)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var members = new List<SimMember>();
                for (int i = 0; i < 3; i++) members.Add(await cluster.StartAsync());
                // The hook never says that it is done, so a view change of this group lasts for 2 s.
                await members[0].Node.JoinAsync("shop", static g => g.OnError(static _ => { }).OnViewProposed(static (_, _) => { }));
                var first = cluster.Simulation.Spawn(async () => await members[1].Node.JoinAsync("shop"));
                await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(300));
                Exception? error = null;
                var queued = cluster.Simulation.Spawn(async () => error = await Record.ExceptionAsync(async () => await members[2].Node.JoinAsync("shop")));
                await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(300));
                Assert.False(first.IsCompleted || queued.IsCompleted);
                await members[2].Node.DisposeAsync();
                await queued;
                Assert.Contains("leav", Assert.IsType<NotMemberException>(error).Message, StringComparison.Ordinal);
                Assert.Equal(MembershipState.Stopped, members[2].Node.State);
                await first;
            }, s_limit);
        });

    /// <summary>One DHT of the node has something to hand over, which lasts until the Oracle has a leader. Meanwhile another DHT and a join are refused at once.</summary>
    [Fact]
    public void R_a_node_that_hands_over_has_no_other_dht_and_joins_no_other_group_meanwhile() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(R_a_node_that_hands_over_has_no_other_dht_and_joins_no_other_group_meanwhile)}", run =>
        {
            var simulation = run.Start();
            var cluster = new SimCluster(simulation);
            simulation.RunAsync(async () =>
            {
                var options = new DhtOptions { ShardSize = 1, TargetSize = 1 };
                for (int i = 0; i < 3; i++) await cluster.StartAsync();
                var dhts = new List<Dht>();
                var carts = new List<Group>();
                foreach (var member in cluster.Members)
                {
                    dhts.Add(await (await member.Node.JoinAsync("shop")).EnableDhtAsync(options, DhtWorld.Maps));
                    carts.Add(await member.Node.JoinAsync("carts"));
                }
                int holder = 0;
                while ((await dhts[holder].StatusAsync()).OwnSlot < 0) holder++;
                simulation.Network.Partition([.. cluster.Members.Select(static member => (IReadOnlyList<SimNode>)[member.Host])]);
                while (cluster.Members.Any(static member => member.Node.State != MembershipState.Blocked)) await simulation.Delay(TimeSpan.FromMilliseconds(10));
                var node = cluster.Members[holder].Node;
                var leaving = simulation.Spawn(async () => await node.DisposeAsync());
                await simulation.Delay(TimeSpan.FromMilliseconds(100));
                Exception? enabled = null, joined = null;
                var enabling = simulation.Spawn(async () => enabled = await Record.ExceptionAsync(async () => await carts[holder].EnableDhtAsync(options, DhtWorld.Maps)));
                var joining = simulation.Spawn(async () => joined = await Record.ExceptionAsync(async () => await node.JoinAsync("third")));
                await simulation.Delay(TimeSpan.FromMilliseconds(100));
                Assert.True(enabling.IsCompleted && joining.IsCompleted, $"{enabling.Status} {joining.Status}");
                Assert.False(leaving.IsCompleted);
                Assert.IsType<NotDhtMemberException>(enabled);
                Assert.IsType<NotMemberException>(joined);
                simulation.Network.Heal();
                await leaving;
                Assert.True(carts[holder].Completion.IsCompletedSuccessfully);
                // Another member holds the shard now.
                int other = holder == 0 ? 1 : 0;
                await dhts[other].Map<string, int>("ints").PutAsync("a", 1);
                await (await carts[other].EnableDhtAsync(options, DhtWorld.Maps)).Map<string, int>("ints").PutAsync("b", 1);
            }, s_limit);
        });

    /// <summary>The only holder of a group's state stops while another member loads it. The group is over: the holder has left it, and the other's join is refused.</summary>
    [Fact]
    public void R_a_group_whose_only_holder_is_disposed_of_completes_there_though_another_loads() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(R_a_group_whose_only_holder_is_disposed_of_completes_there_though_another_loads)}", run =>
        {
            var simulation = run.Start();
            var cluster = new SimCluster(simulation);
            simulation.RunAsync(async () =>
            {
                var voter = await cluster.StartAsync();
                var holder = await cluster.StartAsync(null, null, node => new DelayingNode(simulation, node, static work => work is GroupCore.Groups.State.StateCut ? TimeSpan.FromSeconds(30) : TimeSpan.Zero));
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
