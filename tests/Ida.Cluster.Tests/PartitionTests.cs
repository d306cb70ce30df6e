using System.Buffers;
using System.Text;
using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Partitions over the whole stack (oracle.md#majority-of-the-latest-configuration, #without-contact-a-process-blocks-then-ends).</summary>
public sealed class PartitionTests
{
    private const int Count = 5;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(10);

    /// <summary>A group program whose state is the list of delivered messages, in order.</summary>
    private sealed class Program
    {
        public List<string> Log { get; } = [];

        public List<ulong> Views { get; } = [];

        public int Lives { get; private set; }

        public Group Group { get; private set; } = null!;

        public async Task JoinAsync(IdaNode node)
        {
            Lives++;
            Log.Clear();
            Group = await node.JoinAsync("log", g => g
                .Handle<string>("add", (_, text) => Log.Add(text))
                .OnView(view => Views.Add(view.Id))
                .Checkpoint(
                    to => to.Write(Encoding.UTF8.GetBytes(string.Join('\n', Log))),
                    bytes => Log.AddRange(Encoding.UTF8.GetString(bytes.Span).Split('\n', StringSplitOptions.RemoveEmptyEntries))));
        }
    }

    private static async Task<List<(SimMember Member, Program Program)>> StartAsync(SimCluster cluster)
    {
        var started = new List<(SimMember, Program)>();
        for (int i = 0; i < Count; i++)
        {
            var program = new Program();
            var member = await cluster.StartAsync(new() { OnExcluded = ExclusionPolicy.Rejoin, OnRejoined = (node, _) => program.JoinAsync(node) });
            await program.JoinAsync(member.Node);
            started.Add((member, program));
        }
        return started;
    }

    private static async Task<bool> UntilAsync(Simulation simulation, Func<bool> condition, TimeSpan limit)
    {
        var end = simulation.Now + limit;
        while (!condition() && simulation.Now < end) await simulation.Delay(TimeSpan.FromMilliseconds(10));
        return condition();
    }

    [Fact]
    public void B4_the_side_with_the_oracle_goes_on_and_the_other_blocks_and_rejoins_with_equal_state() =>
        SimulationRunner.ForEachSeed(100, $"*{nameof(B4_the_side_with_the_oracle_goes_on_and_the_other_blocks_and_rejoins_with_equal_state)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var all = await StartAsync(cluster);
                await all[4].Program.Group.OrderedSendAsync("add", "before");
                await simulation.Delay(TimeSpan.FromSeconds(2));
                var majority = all[..3];
                var minority = all[3..];
                ulong old = all[0].Program.Group.CurrentView.Id;
                simulation.Network.Partition([.. majority.Select(one => one.Member.Host)], [.. minority.Select(one => one.Member.Host)]);

                await minority[0].Program.Group.SendAsync("add", "lost with the minority");
                var flush = minority[0].Program.Group.FlushAsync().AsTask();
                Assert.True(await UntilAsync(simulation, () => minority.TrueForAll(one => one.Member.Node.State == MembershipState.Blocked), TimeSpan.FromSeconds(3.5)),
                    "the minority blocks within 3 s");
                Assert.True(await UntilAsync(simulation, () => majority.TrueForAll(one => one.Program.Group.CurrentView.Id > old), TimeSpan.FromSeconds(5)),
                    "the majority installs a view within 5 s");
                Assert.All(majority, one => Assert.Equal(3, one.Program.Group.CurrentView.Members.Count));
                await majority[1].Program.Group.OrderedSendAsync("add", "during");
                Assert.False(flush.IsCompletedSuccessfully, "no flush completes in the minority");
                Assert.All(minority, one => Assert.Equal(old, one.Program.Views[^1]));

                simulation.Network.Heal();
                Assert.True(await UntilAsync(simulation, () => all.TrueForAll(one => one.Program.Group is { } group && !group.Completion.IsCompleted
                    && one.Member.Node.State == MembershipState.Active && group.CurrentView.Members.Count == Count), TimeSpan.FromSeconds(60)), "all are back");
                await majority[0].Program.Group.OrderedSendAsync("add", "after");
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Assert.All(minority, one => Assert.Equal(2, one.Program.Lives));
                Assert.All(all, one => Assert.Equal(all[0].Program.Log, one.Program.Log));
                Assert.Equal(["before", "during", "after"], all[0].Program.Log);
                await Assert.ThrowsAnyAsync<InvalidOperationException>(() => flush);
            }, Limit);
        });

    [Fact]
    public void B5_without_an_oracle_majority_on_any_side_all_wait_and_nothing_is_lost() =>
        SimulationRunner.ForEachSeed(100, $"*{nameof(B5_without_an_oracle_majority_on_any_side_all_wait_and_nothing_is_lost)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var all = await StartAsync(cluster);
                await simulation.Delay(TimeSpan.FromSeconds(2));
                ulong old = all[0].Program.Group.CurrentView.Id;
                var hosts = all.ConvertAll(one => one.Member.Host);
                simulation.Network.Partition([hosts[0], hosts[3]], [hosts[1], hosts[4]], [hosts[2]]);
                var sent = all.Select((one, i) => one.Program.Group.OrderedSendAsync("add", $"m{i}").AsTask()).ToList();
                Assert.True(await UntilAsync(simulation, () => all.TrueForAll(one => one.Member.Node.State == MembershipState.Blocked), TimeSpan.FromSeconds(5)), "all block");
                await simulation.Delay(TimeSpan.FromSeconds(20));

                simulation.Network.Heal();
                await Task.WhenAll(sent);
                await all[0].Program.Group.OrderedSendAsync("add", "after");
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Assert.All(all, one => Assert.Equal(old, one.Program.Group.CurrentView.Id));
                Assert.All(all, one => Assert.Equal(1, one.Program.Lives));
                Assert.Equal(Count + 1, all[0].Program.Log.Count);
                Assert.All(all, one => Assert.Equal(all[0].Program.Log, one.Program.Log));
            }, Limit);
        });

    [Fact]
    public void R_a_node_that_is_excluded_while_it_rejoins_rejoins_again_whatever_its_callback_does() =>
        SimulationRunner.ForEachSeed(20, $"*{nameof(R_a_node_that_is_excluded_while_it_rejoins_rejoins_again_whatever_its_callback_does)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                for (int i = 0; i < 3; i++) await cluster.StartAsync();
                int calls = 0;
                Task? last = null;
                SimMember member = null!;
                member = await cluster.StartAsync(new() { OnExcluded = ExclusionPolicy.Rejoin, OnRejoined = (node, token) => ++calls < 3 ? StuckAsync(calls, node, token) : last = node.JoinAsync("g", cancellationToken: token).AsTask() });
                await cluster.Members[0].Node.JoinAsync("g");
                IsolateAsync();
                Assert.True(await UntilAsync(simulation, () => last is not null, TimeSpan.FromMinutes(5)), $"the third life, after {calls}");
                await last!;
                Assert.Equal((3, MembershipState.Active, false), (calls, member.Node.State, member.Node.Completion.IsCompleted));

                // The first callback waits for the end of its life, the second for something that never comes.
                async Task StuckAsync(int call, IdaNode node, CancellationToken token)
                {
                    var group = await node.JoinAsync("g", cancellationToken: token);
                    IsolateAsync();
                    await (call == 1 ? group.Completion : new TaskCompletionSource().Task);
                }

                async void IsolateAsync()
                {
                    var all = cluster.Members.Select(static one => one.Host).ToList();
                    simulation.Network.Partition([.. all[..3]], [all[3]]);
                    await simulation.Delay(TimeSpan.FromSeconds(15));
                    simulation.Network.Heal();
                }
            }, Limit);
        });
}
