using GroupCore.Groups;

namespace Ida.Process.Tests.Nodes;

/// <summary>More bytes than a link has room for, between real nodes: calls succeed or are refused, and the DHT serves on.</summary>
public sealed class ByteBudgetTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task F21_three_hundred_large_reads_of_one_member_succeed_or_are_refused_and_the_DHT_serves_on()
    {
        await using var world = await ServingAsync(3, shards: 3);
        var map = world.Dhts[0].Map<int, byte[]>("m");
        int[] keys = [.. Enumerable.Range(0, 180)];
        foreach (int key in keys) await map.PutAsync(key, new byte[9_000]).AsTask().WaitAsync(Bound);
        var gets = Enumerable.Range(0, 300).Select(_ => map.GetAsync(keys).AsTask()).ToList();
        foreach (var get in gets)
            if (await IsServedAsync(get)) Assert.Equal(keys.Length, (await get).Values.Count(static value => value.Length == 9_000));
        await AssertServesAsync(map);
    }

    [Fact]
    public async Task F21_seven_hundred_large_puts_over_a_view_change_succeed_or_are_refused_and_the_DHT_serves_on()
    {
        await using var world = await ServingAsync(3, shards: 1);
        var map = world.Dhts[0].Map<int, byte[]>("m");
        var puts = Enumerable.Range(0, 700).Select(i => map.PutAsync(i, new byte[100_000]).AsTask()).ToList();
        await world.Nodes[2].DisposeAsync();
        var served = new List<bool>();
        foreach (var put in puts) served.Add(await IsServedAsync(put));
        for (int i = 0; i < puts.Count; i++)
        {
            int key = i;
            int? expected = served[i] ? 100_000 : null;
            var found = await ServedAsync(() => map.GetAsync(key));
            Assert.Equal(expected, found.Found ? found.Value.Length : null);
        }
        await AssertServesAsync(map);
    }

    /// <summary>Whether the call succeeded; if not, it was refused, and nothing else. How many are refused depends on how quickly this machine empties its links.</summary>
    private static async Task<bool> IsServedAsync(Task call)
    {
        var error = await Record.ExceptionAsync(() => call.WaitAsync(Bound));
        if (error is not null) Assert.IsType<OverloadedException>(error);
        return error is null;
    }

    private static async Task AssertServesAsync(DhtMap<int, byte[]> map)
    {
        await ServedAsync(() => map.PutAsync(1, new byte[10]));
        Assert.Equal(10, (await ServedAsync(() => map.GetAsync(1))).Value.Length);
    }

    /// <summary>Calls until there is room again, as a refused caller is told to.</summary>
    private static async Task<T> ServedAsync<T>(Func<ValueTask<T>> call)
    {
        using var patience = new CancellationTokenSource(Bound);
        while (true)
        {
            try
            {
                return await call().AsTask().WaitAsync(patience.Token);
            }
            catch (OverloadedException overloaded)
            {
                await Task.Delay(overloaded.RetryAfter, patience.Token);
            }
        }
    }

    private static async Task<World> ServingAsync(int members, int shards)
    {
        var world = new World();
        world.Nodes.Add(await IdaNode.StartAsync(new() { Cluster = "bytes", Listen = "127.0.0.1:0" }));
        for (int i = 1; i < members; i++) world.Nodes.Add(await IdaNode.StartAsync(new() { Cluster = "bytes", Seeds = [world.Nodes[0].Address.Text], Listen = "127.0.0.1:0" }));
        var groups = new List<Group>();
        foreach (var node in world.Nodes) groups.Add(await node.JoinAsync("g").AsTask().WaitAsync(Bound));
        var options = new DhtOptions { ShardSize = members / shards, TargetSize = members };
        world.Dhts.AddRange(await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(options, static maps => maps.Map<int, byte[]>("m")).AsTask())).WaitAsync(Bound));
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
