using GroupCore.Diagnostics;
using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>What a node says about itself (<see cref="IdaNode.DescribeAsync"/>) in each of its states.</summary>
public sealed class DescribeTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Theory, InlineData(SimCarrier.Mesh), InlineData(SimCarrier.Memory)]
    public void A_member_in_normal_operation_names_its_links_oracle_group_and_dht(SimCarrier carrier)
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = 1, Carrier = carrier }));
        cluster.Simulation.RunAsync(async () =>
        {
            var groups = await JoinedAsync(cluster, 3, static g => g.Handle<string>("say", static (_, _) => { }));
            var options = new DhtOptions { ShardSize = 1, TargetSize = 3 };
            var dhts = await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(options, static maps => maps.Map<string, int>("m")).AsTask()));
            await dhts[0].Map<string, int>("m").PutAsync("key", 1);
            await cluster.Simulation.Delay(TimeSpan.FromSeconds(2));
            string text = await cluster.Members[0].Node.DescribeAsync();
            Has(text, $"at {cluster.Members[0].Node.Address}, cluster sim: Active", "loop: ", " turns", "links: 2, of which 2 are up", $"{cluster.Members[1].Node.Address}", ": Up, 0 bytes to send, 0 unacknowledged");
            Has(text, "Oracle: this process is Active", "lease for another", "copy of the log: Leader in term 1, a voter", "leading: it decides; 3 leases", "suspects 0");
            Has(text, "group shop (", "Member, view ", "of 3", "normal: no view change", "members\n", ", this one", "handlers: 0 events wait", "stability: 0 of ");
            Has(text, "DHT: founded in view ", ", 3 shards", "with its state", "it may answer reads", "shard 2: 1 members, 1 with the state, 0 holes");
            Assert.Contains("leader " + cluster.Members[0].Node.Address, await cluster.Members[2].Node.DescribeAsync(), StringComparison.Ordinal);
            Assert.Equal(1, dhts.Count(dht => dht.Layer.Participant.Slice.Table.Count > 0));
        }, Limit);
    }

    [Fact]
    public void A_member_in_a_view_change_says_what_that_waits_for()
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = 2 }));
        cluster.Simulation.RunAsync(async () =>
        {
            var proposed = new TaskCompletionSource();
            var groups = await JoinedAsync(cluster, 3, g => g.OnViewProposed((proposal, _) =>
            {
                // This hook never says that it is done.
                if (proposal.Survivors.Count == 2) proposed.TrySetResult();
            }));
            cluster.Members[2].Host.Crash();
            await proposed.Task;
            await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(1_500));
            string text = await cluster.Members[0].Node.DescribeAsync();
            Has(text, "wedged by proposal ", ": 2 stay, 0 leave, 0 come", "flush leader rank 0", "hooks at work", "not acknowledged", "waits for own hooks", "ida.group.changing: 1 1");
            Assert.Equal(3, groups[0].CurrentView.Members.Count);
            await cluster.Simulation.Delay(TimeSpan.FromSeconds(5));
            Has(await cluster.Members[0].Node.DescribeAsync(), "normal: no view change", "ida.group.hooks.given_up: ");
        }, Limit);
    }

    [Fact]
    public void A_node_says_that_it_is_in_no_group_or_joins_or_has_stopped()
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = 3 }));
        cluster.Simulation.RunAsync(async () =>
        {
            var groups = await JoinedAsync(cluster, 2, static _ => { });
            await groups[1].LeaveAsync();
            string text = await cluster.Members[1].Node.DescribeAsync();
            Has(text, "groups: 0;");
            Assert.DoesNotContain("group shop", text, StringComparison.Ordinal);
            cluster.Members[0].Host.Pause(TimeSpan.FromMilliseconds(100));
            var join = cluster.Members[1].Node.JoinAsync("shop").AsTask();
            await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(10));
            Has(await cluster.Members[1].Node.DescribeAsync(), "group shop: Joining, in no view; the join waits for the membership service's answer");
            await join;
            var member = await cluster.StartAsync();
            await member.Node.DisposeAsync();
            Has(await member.Node.DescribeAsync(), "cluster sim: Stopped");
            member = await cluster.StartAsync();
            member.Host.FaultInTurn(TurnPlace.Timer, new InvalidDataException("on purpose"));
            await cluster.Simulation.Delay(TimeSpan.FromSeconds(1));
            Has(await member.Node.DescribeAsync(), "cluster sim: Faulted", "on purpose");
        }, Limit);
    }

    [Fact]
    public void A_description_of_many_groups_stays_short()
    {
        var cluster = new SimCluster(new(new SimulationOptions { Seed = 4 }));
        cluster.Simulation.RunAsync(async () =>
        {
            var member = await cluster.StartAsync();
            for (int i = 0; i < 40; i++) await member.Node.JoinAsync($"group {i}");
            string text = await member.Node.DescribeAsync();
            Has(text, "groups: 40;", "… and 24 more");
            Assert.InRange(text.Length, 1_000, Description.MostCharacters);
        }, Limit);
    }

    private static async Task<List<Group>> JoinedAsync(SimCluster cluster, int count, Action<GroupBuilder> configure)
    {
        var groups = new List<Group>();
        for (int i = 0; i < count; i++) groups.Add(await (await cluster.StartAsync()).Node.JoinAsync("shop", configure));
        for (int waited = 0; groups.Exists(group => group.CurrentView.Members.Count < count || group.CurrentView.Members.Any(static member => !member.Initialised)); waited++)
        {
            Assert.True(waited < 6_000);
            await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(10));
        }
        await cluster.Simulation.Delay(TimeSpan.FromSeconds(1));
        return groups;
    }

    private static void Has(string text, params string[] parts)
    {
        foreach (string part in parts) Assert.True(text.Contains(part, StringComparison.Ordinal), $"'{part}' is not in:\n{text}");
    }
}
