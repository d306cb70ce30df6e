using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Without faults, the links in memory and the TCP mesh of production give the same views, deliveries and results, though in different steps.</summary>
public sealed class CarrierTests
{
    private const int Nodes = 5, Rounds = 12;

    [Fact]
    public void Both_carriers_have_the_same_outcome()
    {
        for (ulong seed = 1; seed <= 12; seed++) Assert.Equal(Outcome(seed, SimCarrier.Memory), Outcome(seed, SimCarrier.Mesh));
    }

    [Fact]
    public void Groups_under_the_real_oracle_keep_every_guarantee_over_the_mesh() =>
        SimulationRunner.ForEachSeed(20, $"*{nameof(Groups_under_the_real_oracle_keep_every_guarantee_over_the_mesh)}", ClusterScenarios.GroupsOverMesh.Case());

    [Fact]
    public void Histories_are_strictly_serializable_over_the_mesh() =>
        SimulationRunner.ForEachSeed(10, $"*{nameof(Histories_are_strictly_serializable_over_the_mesh)}", ClusterScenarios.HistoryOverMesh.Case());

    [Fact]
    public void Every_call_of_groups_ends_as_documented_over_the_mesh() =>
        SimulationRunner.ForEachSeed(15, $"*{nameof(Every_call_of_groups_ends_as_documented_over_the_mesh)}", GroupScenarios.SurfaceOverMesh.Case());

    /// <summary>With credentials nothing changes but the bytes.</summary>
    [Fact]
    public void Secure_connections_have_the_same_outcome()
    {
        for (ulong seed = 1; seed <= 4; seed++) Assert.Equal(Outcome(seed, SimCarrier.Mesh), Outcome(seed, SimCarrier.Mesh, secure: true));
    }

    /// <summary>TLS draws random numbers of its own, and still a seed takes the same steps each time.</summary>
    [Fact]
    public void A_seed_repeats_itself_over_secure_connections()
    {
        ulong[] traces = [Trace(), Trace()];
        Assert.Equal(traces[0], traces[1]);

        static ulong Trace()
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = 3, Carrier = SimCarrier.Mesh, IsSecure = true, Sockets = SocketModel.Rough });
            simulation.RunAsync(() => RunAsync(new(simulation), [], [], []), TimeSpan.FromMinutes(5));
            return simulation.TraceHash;
        }
    }

    private static List<string> Outcome(ulong seed, SimCarrier carrier, bool secure = false)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = seed, Carrier = carrier, IsSecure = secure });
        var cluster = new SimCluster(simulation);
        var (views, messages, results) = (new SortedSet<string>(StringComparer.Ordinal), new List<List<string>>(), new List<string>());
        simulation.RunAsync(() => RunAsync(cluster, views, messages, results), TimeSpan.FromMinutes(5));
        if (carrier == SimCarrier.Mesh) Assert.True(simulation.Tally[SocketDeed.ShortRead] > 0 && simulation.Tally[SocketDeed.ShortWrite] > 0);
        // An address begins with 10 in memory and with 127 over sockets.
        return [.. ((IEnumerable<string>)[.. views, .. results, .. messages.SelectMany(static (log, member) => log.Select(line => $"{member}: {line}"))]).Select(static line => line.Replace("127.", "10.", StringComparison.Ordinal))];
    }

    // One call after the other, since the outcome of concurrent calls may differ. So may the view that first shows that a joiner has its state.
    private static async Task RunAsync(SimCluster cluster, SortedSet<string> views, List<List<string>> messages, List<string> results)
    {
        var groups = new List<Group>();
        for (int i = 0; i < Nodes; i++)
        {
            var log = new List<string>();
            messages.Add(log);
            var member = await cluster.StartAsync();
            groups.Add(await member.Node.JoinAsync("both", g => g
                .Handle<string>("said", (from, text) => log.Add($"{from} {text}"))
                .OnView(view => views.Add($"view {string.Join(' ', view.Members.Select(one => one.Address))}"))));
        }
        for (int i = 0; i < Rounds; i++)
        {
            var sender = groups[i % Nodes];
            string text = new((char)('a' + i), 1 << i);
            await (i % 2 == 0 ? sender.OrderedSendAsync("said", text) : sender.SendAsync("said", text));
            await sender.FlushAsync();
        }
        var dhts = await Task.WhenAll(groups.Select(static group => group.EnableDhtAsync(new() { ShardSize = 2, TargetSize = 4 }, DhtWorld.Maps).AsTask()));
        for (int i = 0; i < Rounds; i++)
        {
            var map = dhts[i % Nodes].Map<string, string>("texts");
            await map.PutAsync([new("a", $"{i}"), new($"k{i % 5}", new('x', 100 * i))]);
            var read = await dhts[(i + 1) % Nodes].Map<string, string>("texts").GetAsync(["a", "k0", "k1", "k2", "k3", "k4"]);
            results.Add(string.Join(' ', read.OrderBy(static pair => pair.Key, StringComparer.Ordinal).Select(static pair => $"{pair.Key}={pair.Value}")));
        }
        await groups[1].DisposeAsync();
        while (groups.Exists(group => group != groups[1] && group.CurrentView.Members.Count != Nodes - 1)) await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(10));
    }
}
