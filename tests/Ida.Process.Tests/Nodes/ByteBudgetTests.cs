using GroupCore.Groups;

namespace Ida.Process.Tests.Nodes;

/// <summary>Bytes that do not fit a link, between real nodes: calls succeed or are refused, and the DHT serves on.</summary>
public sealed class ByteBudgetTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task F21_three_hundred_large_reads_of_one_member_succeed_or_are_refused_and_the_DHT_serves_on()
    {
        await using var world = await ServingAsync(3, shards: 3);
        var map = world.Dhts[0].Map<int, byte[]>("m");
        int[] keys = [.. Enumerable.Range(0, 180)];
        foreach (int key in keys) await map.OrderedPutAsync(key, new byte[9_000]).AsTask().WaitAsync(Bound);
        var gets = Enumerable.Range(0, 300).Select(_ => map.OrderedGetAsync(keys).AsTask()).ToList();
        int served = 0;
        foreach (var get in gets)
        {
            var error = await Record.ExceptionAsync(() => get.WaitAsync(Bound));
            if (error is null) served++;
            else Assert.IsType<OverloadedException>(error);
        }
        Assert.InRange(served, 100, 300);
        await map.OrderedPutAsync(1, new byte[10]).AsTask().WaitAsync(Bound);
        Assert.Equal(10, (await map.OrderedGetAsync(1).AsTask().WaitAsync(Bound))!.Value.Value.Length);
    }

    [Fact]
    public async Task F21_seven_hundred_large_puts_over_a_view_change_all_succeed()
    {
        await using var world = await ServingAsync(3, shards: 1);
        var map = world.Dhts[0].Map<int, byte[]>("m");
        var puts = Enumerable.Range(0, 700).Select(i => map.OrderedPutAsync(i, new byte[100_000]).AsTask()).ToList();
        await world.Nodes[2].DisposeAsync();
        foreach (var put in puts) await put.WaitAsync(Bound);
        Assert.Equal(100_000, (await map.OrderedGetAsync(699).AsTask().WaitAsync(Bound))!.Value.Value.Length);
    }

    private static async Task<World> ServingAsync(int members, int shards)
    {
        var world = new World();
        world.Nodes.Add(await IdaNode.StartAsync(new() { Cluster = "bytes", Listen = "127.0.0.1:0" }));
        for (int i = 1; i < members; i++) world.Nodes.Add(await IdaNode.StartAsync(new() { Cluster = "bytes", Seeds = [world.Nodes[0].Address.Text], Listen = "127.0.0.1:0" }));
        var groups = new List<Group>();
        foreach (var node in world.Nodes) groups.Add(await node.JoinAsync("g").AsTask().WaitAsync(Bound));
        var options = new DhtOptions { ShardSize = members / shards, TargetSize = members };
        world.Dhts.AddRange(await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(options).AsTask())).WaitAsync(Bound));
        return world;
    }

    private sealed class World : IAsyncDisposable
    {
        public List<IdaNode> Nodes { get; } = [];

        public List<Dht> Dhts { get; } = [];

        public async ValueTask DisposeAsync()
        {
            foreach (var node in Nodes) await node.DisposeAsync();
        }
    }
}
