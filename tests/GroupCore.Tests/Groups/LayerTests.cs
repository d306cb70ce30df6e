using GroupCore.Groups;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>What a layer above a group is promised (views-and-flush.md#contributions-are-frozen-and-complete): contributions, frames and the order of its calls.</summary>
public sealed class LayerTests
{
    private static (GroupCluster Cluster, List<TestLayer> ByRank) Attached(ulong seed, int members, Func<int, byte[]> contribution, Action<GroupBuilder>? more = null, LinkModel? link = null, long? most = null)
    {
        var options = new SimulationOptions { Seed = seed, Link = link ?? new(), ReplayCommand = $"seed {seed}" };
        var cluster = new GroupCluster(new Simulation(most is { } bytes ? options with { MostQueuedBytes = bytes } : options), members, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var layers = new TestLayer[members];
        foreach (var member in cluster.Members)
        {
            int rank = member.Group!.Rank;
            cluster.Simulation.Spawn(async () => layers[rank] = await member.Group.AttachLayerAsync(ToyLayers.First, port => new TestLayer(port, () => contribution(rank))));
        }
        Assert.True(cluster.Simulation.RunUntil(() => Array.TrueForAll(layers, l => l is not null), TimeSpan.FromSeconds(1)));
        return (cluster, [.. layers]);
    }

    [Fact]
    public void Room_is_given_to_one_Send()
    {
        var (cluster, layers) = Attached(1, 2, static _ => []);
        using var _ = cluster;
        Exception? second = null;
        cluster.Members.Single(static m => m.Group!.Rank == 0).SimNode.Post(() =>
        {
            layers[0].Port.Reserve(1)[0] = 7;
            layers[0].Port.Send(1, FrameType.FirstLayer, 1);
            second = Record.Exception(() => layers[0].Port.Send(1, FrameType.FirstLayer, 1));
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.IsType<ArgumentOutOfRangeException>(second);
        Assert.Equal([7], Assert.Single(layers[1].Frames).Body);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void All_survivors_get_the_same_contributions_of_the_survivors_in_rank_order(ulong seed)
    {
        var (cluster, layers) = Attached(seed, 5, rank => [(byte)rank, 42]);
        using var _ = cluster;
        Assert.All(layers, layer => Assert.Empty(Assert.Single(layer.Installed).Contributions));
        var old = layers[0].Port.View!;
        var lost = cluster.Members.Single(m => m.Group!.Rank == 1);
        lost.Crash();
        cluster.Oracle.Fail(lost.Membership);
        Assert.True(cluster.Settle());
        foreach (int rank in new[] { 0, 2, 3, 4 })
        {
            var (view, contributions) = layers[rank].Installed[^1];
            Assert.Equal(old.Id + 1, view.Id);
            Assert.Equal([0, 2, 3, 4], contributions.Select(c => (int)c.Bytes.Span[0]));
            Assert.Equal([0, 2, 3, 4], contributions.Select(c => old.RankOf(c.Member)));
            Assert.Equal([$"view {old.Id}", "wedged", "contribute", $"view {view.Id}"], layers[rank].Events);
        }
        Assert.Null(cluster.Verdict());
    }

    /// <summary>
    /// Frames for the failed member take up all room of the flush leader, so it cannot pass the contributions on. The others, which wait for them, are not at fault.
    /// </summary>
    [Theory]
    [InlineData(1, 0)]
    [InlineData(2, 0)]
    [InlineData(3, 200)]
    [InlineData(4, 400)]
    public void A_flush_leader_that_has_no_room_for_contributions_suspects_nobody_for_that(ulong seed, int latency)
    {
        var link = latency == 0 ? new LinkModel() : new LinkModel { MinLatency = TimeSpan.FromMilliseconds(latency), MaxLatency = TimeSpan.FromMilliseconds(latency) };
        var (cluster, layers) = Attached(seed, 4, rank => new byte[1_000], link: link, most: 256 << 10);
        using var _ = cluster;
        var (leader, failed) = (cluster.Members.Single(m => m.Group!.Rank == 0), cluster.Members.Single(m => m.Group!.Rank == 3));
        failed.Crash(hostAnswers: false);
        leader.SimNode.Post(() =>
        {
            leader.Group!.Protocol.Links.Frame(FrameType.FirstLayer, 300 << 10);
            leader.Group.Protocol.Links.SendTo(3);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Oracle.Fail(failed.Membership);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2.8));
        Assert.True(leader.Group!.Protocol.IsWedged);
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.All(layers[..3], layer => Assert.Equal(3, layer.Installed[^1].Contributions.Count));
    }

    [Fact]
    public void A_superseded_view_change_wedges_again_and_keeps_the_contribution()
    {
        var (cluster, layers) = Attached(4, 5, rank => [(byte)rank]);
        using var _ = cluster;
        var leader = cluster.Members.Single(m => m.Group!.Rank == 0);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => layers.TrueForAll(l => l.Events.Contains("wedged")), TimeSpan.FromSeconds(1)));
        leader.Crash();
        cluster.Oracle.Fail(leader.Membership);
        Assert.True(cluster.Settle());
        for (int rank = 1; rank < 5; rank++)
        {
            Assert.Single(layers[rank].Events, e => e == "contribute");
            Assert.Equal(2, layers[rank].Events.Count(e => e == "wedged"));
            Assert.Equal([1, 2, 3, 4], layers[rank].Installed[^1].Contributions.Select(c => (int)c.Bytes.Span[0]));
        }
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void Frames_reach_the_layer_of_the_view_and_a_layer_hears_the_end()
    {
        var (cluster, layers) = Attached(5, 3, _ => []);
        using var _ = cluster;
        var first = cluster.Members.Single(m => m.Group!.Rank == 0);
        first.SimNode.Post(() =>
        {
            layers[0].Port.Reserve(3).Fill(7);
            layers[0].Port.Send([1, 2], FrameType.FirstLayer, 3);
            layers[0].Port.Reserve(1).Fill(9);
            layers[0].Port.Send(2, ToyLayers.First.Last, 1);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal([(0, FrameType.FirstLayer, 3)], layers[1].Frames.Select(f => (f.Rank, f.Type, f.Body.Length)));
        Assert.Equal([(0, FrameType.FirstLayer, 3), (0, ToyLayers.First.Last, 1)], layers[2].Frames.Select(f => (f.Rank, f.Type, f.Body.Length)));
        var leaver = cluster.Members.Single(m => m.Group!.Rank == 2);
        cluster.Simulation.RunAsync(leaver.LeaveAsync, TimeSpan.FromSeconds(5));
        Assert.IsType<NotMemberException>(layers[2].Over);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    /// <summary>All contributions together are more than may be on the way to a survivor: with 36 members they would reach 32 MiB, where a link gives up.</summary>
    [Fact]
    public void Contributions_beyond_what_a_link_takes_go_out_as_it_empties()
    {
        const int Members = 14;
        var (cluster, layers) = Attached(6, Members, rank =>
        {
            byte[] bytes = new byte[GroupLimits.ContributionBytes];
            bytes.AsSpan().Fill((byte)rank);
            return bytes;
        });
        using var _ = cluster;
        Assert.True((long)Members * GroupLimits.ContributionBytes > LinkLimits.MostBulkBytes + (2 << 20));
        long most = 0;
        cluster.Simulation.AddInvariant("backlog", () =>
        {
            foreach (var member in cluster.Members)
                foreach (var other in cluster.Members)
                    if (other != member) most = Math.Max(most, member.SimNode.Node.Links.Backlog(member.SimNode.Node.Links.Open(other.SimNode.Address)));
            return null;
        });
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => layers.TrueForAll(l => l.Installed.Count == 2), TimeSpan.FromSeconds(20)));
        Assert.InRange(most, LinkLimits.LeastBulkBytes, LinkLimits.MostBulkBytes + (2 << 20));
        foreach (var layer in layers)
        {
            Assert.Equal(Enumerable.Range(0, Members), layer.Installed[^1].Contributions.Select(c => (int)c.Bytes.Span[0]));
            Assert.All(layer.Installed[^1].Contributions, c => Assert.Equal(GroupLimits.ContributionBytes, c.Bytes.Length));
        }
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>
    /// Another member may fill the link for any time with answers, asking for the next as fast as it gets one. The layer still has its turns, and so have the answers.
    /// </summary>
    [Fact]
    public void A_layer_has_room_beside_answers_that_fill_the_link()
    {
        var (cluster, layers) = Attached(7, 2, _ => [], static g => g.OnQuery<int, byte[]>("much", static byte[] (from, q) => new byte[60_000]), new() { BytesPerSecond = 2_500_000 });
        using var all = cluster;
        var (giving, asking) = (cluster.Members.Single(m => m.Group!.Rank == 0), cluster.Members.Single(m => m.Group!.Rank == 1));
        int answers = 0, sent = 0;
        for (int i = 0; i < 100; i++)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                while (true)
                {
                    await asking.Group!.QueryToAsync<int, byte[]>(0, "much", 1, TimeSpan.FromMinutes(1)).ConfigureAwait(false);
                    answers++;
                }
            });
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        var layer = layers[0];
        layer.Room = rank =>
        {
            for (; layer.Port.Room(rank) > 0; sent++)
            {
                layer.Port.Reserve(60_000).Clear();
                layer.Port.Send([rank], FrameType.FirstLayer, 60_000);
            }
        };
        giving.SimNode.Post(() => _ = layer.Port.Room(1));
        int before = answers;
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.InRange(sent, 50, int.MaxValue);
        Assert.InRange(answers - before, 50, int.MaxValue);
        Assert.Empty(cluster.Oracle.Suspicions);
    }
}
