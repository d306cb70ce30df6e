using GroupCore.Groups;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Another layer in the group of a DHT: both go through view changes, and neither hears anything of the other.</summary>
public sealed class LayersTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 2, TargetSize = 4 };
    private static readonly IdaNodeOptions s_node = new() { Groups = new() { Layers = [ToyLayers.Second] } };

    private sealed record Part(SimMember Member, Group Group, SetLayer Layer, Dht Dht)
    {
        public DhtMap<string, int> Map => Dht.Map<string, int>("ints");
    }

    [Fact]
    public void A_layer_beside_the_DHT_goes_through_crashes_and_joins_as_it_does() =>
        SimulationRunner.ForEachSeed(20, $"*{nameof(A_layer_beside_the_DHT_goes_through_crashes_and_joins_as_it_does)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            simulation.RunAsync(async () =>
            {
                var parts = (await Task.WhenAll((await StartAsync(cluster, 5)).Select(BeginAsync))).ToList();
                ulong number = 0;
                var added = new Dictionary<Part, List<ulong>>();
                var put = new List<string>();
                for (int round = 0; round < 3; round++)
                {
                    await Task.WhenAll(parts.Select(part => part.Dht.WhenInitialisedAsync()));
                    foreach (var part in parts) Add(part);
                    // Not one of the first three, which vote in the Oracle.
                    int at = 3 + simulation.Random.Next(parts.Count - 3);
                    var lost = parts[at];
                    var puts = parts.Where(part => part != lost).Select(PutAsync).ToArray();
                    await simulation.Delay(TimeSpan.FromMicroseconds(simulation.Random.Next(5_000)));
                    lost.Member.Host.Crash();
                    parts.RemoveAt(at);
                    foreach (var part in parts) Add(part);
                    await Task.WhenAll(puts);
                    parts.Add(await BeginAsync((await StartAsync(cluster, 1))[0]));
                }
                foreach (var part in parts) await part.Dht.WhenInitialisedAsync();
                parts[0].Member.Host.Post(parts[0].Layer.Port.RequestView);
                ulong view = parts.Max(static part => part.Group.CurrentView.Id) + 1;
                for (int waited = 0; parts.Select(static part => part.Layer.Agreed.Keys.LastOrDefault()).Distinct().Count() > 1 || parts[0].Layer.Agreed.Keys.LastOrDefault() < view; waited++)
                {
                    Assert.True(waited < 10_000);
                    await simulation.Delay(TimeSpan.FromMilliseconds(1));
                }
                ulong last = parts[0].Layer.Agreed.Keys.Last();
                Assert.All(parts, part =>
                {
                    Assert.Equal(parts[0].Layer.Agreed[last].Numbers, part.Layer.Agreed[last].Numbers);
                    Assert.Equal(parts.Select(static other => other.Group.Self).Order(), part.Layer.Agreed[last].From.Order());
                    Assert.Empty(part.Layer.Wrong);
                    Assert.True(part.Layer.Taken > 0);
                });
                // Every remaining member's additions are known to all, and every acknowledged put can be read.
                string[] known = parts[0].Layer.Agreed[last].Numbers.Split(' ');
                foreach (var part in parts) Assert.Subset(known.ToHashSet(), added.GetValueOrDefault(part, []).Select(static one => $"{one}").ToHashSet());
                for (int i = 0; i < put.Count; i++) Assert.Equal(i, (await parts[i % parts.Count].Map.GetAsync(put[i])).Value);

                void Add(Part part)
                {
                    ulong next = ++number;
                    if (!added.TryGetValue(part, out var own)) added.Add(part, own = []);
                    own.Add(next);
                    part.Member.Host.Post(() => part.Layer.Add(next));
                }

                async Task PutAsync(Part part)
                {
                    int value = put.Count;
                    put.Add($"key {value}");
                    await part.Map.PutAsync(put[value], value);
                }
            }, TimeSpan.FromMinutes(10));
        });

    [Fact]
    public void A_layer_with_frame_types_of_the_DHT_is_refused_with_both_names()
    {
        var options = new IdaNodeOptions { Cluster = "layers", Groups = new() { Layers = [ToyLayers.First] } };
        var error = Assert.Throws<ArgumentException>(options.Validate);
        Assert.Contains("\"first\"", error.Message, StringComparison.Ordinal);
        Assert.Contains("\"dht\"", error.Message, StringComparison.Ordinal);
    }

    private static async Task<SimMember[]> StartAsync(SimCluster cluster, int count)
    {
        var members = new SimMember[count];
        for (int i = 0; i < count; i++) members[i] = await cluster.StartAsync(s_node);
        return members;
    }

    private static async Task<Part> BeginAsync(SimMember member)
    {
        var group = await member.Node.JoinAsync("shop");
        var layer = await group.AttachLayerAsync(ToyLayers.Second, static port => new SetLayer(port, ToyLayers.Second));
        var dht = await group.EnableDhtAsync(s_options, static maps => maps.Map<string, int>("ints"));
        return new(member, group, layer, dht);
    }
}
