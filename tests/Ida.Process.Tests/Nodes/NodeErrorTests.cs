using System.Net;
using System.Net.Sockets;
using GroupCore.Transport;

namespace Ida.Process.Tests.Nodes;

/// <summary>What goes wrong at a start or in a call gets one typed error that says what, within a bounded time; real sockets.</summary>
public sealed class NodeErrorTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task A_port_in_use_is_named()
    {
        using var other = Listening(out string address);
        var e = await Assert.ThrowsAsync<AddressInUseException>(() => StartAsync(new() { Cluster = "a", Listen = address }));
        Assert.Contains(address, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_seed_where_nobody_answers_is_named()
    {
        string address = Free();
        var e = await Assert.ThrowsAsync<ClusterUnreachableException>(() =>
            StartAsync(new() { Cluster = "a", Seeds = [address], Listen = "127.0.0.1:0", StartTimeout = TimeSpan.FromSeconds(2) }));
        Assert.Contains(address, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_seed_of_another_cluster_does_not_let_in_and_serves_on()
    {
        await using var first = await StartAsync(new() { Cluster = "a" });
        await Assert.ThrowsAsync<ClusterUnreachableException>(() =>
            StartAsync(new() { Cluster = "b", Seeds = [first.Address.Text], Listen = "127.0.0.1:0", StartTimeout = TimeSpan.FromSeconds(2) }));
        await AssertServesAsync(first);
    }

    [Fact]
    public async Task Garbage_on_the_port_is_dropped_and_the_node_serves_on()
    {
        await using var node = await StartAsync(new() { Cluster = "a" });
        byte[] garbage = new byte[100_000];
        new Random(5).NextBytes(garbage);
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(IPEndPoint.Parse(node.Address.Text), TestContext.Current.CancellationToken);
            // The node may close at the first wrong byte, which ends the write early.
            try { await client.GetStream().WriteAsync(garbage, TestContext.Current.CancellationToken); } catch (IOException) { }
        }
        await AssertServesAsync(node);
    }

    [Theory]
    [InlineData("0.0.0.0:0")]
    [InlineData("192.0.2.7:7700")]
    public async Task Beyond_the_loopback_nothing_is_bound_without_credentials(string listen) =>
        await Assert.ThrowsAsync<InsecureBindException>(() => StartAsync(new() { Cluster = "a", Listen = listen }));

    [Theory]
    [InlineData("")]
    [InlineData("no port")]
    [InlineData("127.0.0.1")]
    [InlineData("127.0.0.1:99999")]
    public async Task An_address_that_is_none_is_named(string listen) =>
        await Assert.ThrowsAnyAsync<ArgumentException>(() => StartAsync(new() { Cluster = "a", Listen = listen }));

    [Fact]
    public async Task A_cluster_without_a_name_is_refused() =>
        await Assert.ThrowsAnyAsync<ArgumentException>(() => StartAsync(new() { Cluster = "" }));

    [Theory]
    [InlineData(0, 4)]
    [InlineData(-1, 4)]
    [InlineData(3, 4)]
    [InlineData(2, 0)]
    [InlineData(4, 2)]
    public async Task Impossible_shard_sizes_are_refused(int shardSize, int targetSize)
    {
        await using var node = await StartAsync(new() { Cluster = "a" });
        var group = await node.JoinAsync("g", _ => { }).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);
        var e = await Assert.ThrowsAsync<DhtConfigurationException>(() =>
            group.EnableDhtAsync(new() { ShardSize = shardSize, TargetSize = targetSize }).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken));
        Assert.Contains("Size", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_key_of_a_type_that_has_no_bytes_is_refused()
    {
        await using var node = await StartAsync(new() { Cluster = "a" });
        var group = await node.JoinAsync("g", _ => { }).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);
        var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);
        var e = await Assert.ThrowsAsync<UnsupportedTypeException>(async () =>
            await dht.Map<Action, int>("m").OrderedPutAsync([new(() => { }, 1)]).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken));
        Assert.Contains("System.Action", e.Message, StringComparison.Ordinal);
    }

    private static Task<IdaNode> StartAsync(IdaNodeOptions options) =>
        IdaNode.StartAsync(options, TestContext.Current.CancellationToken).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);

    private static async Task AssertServesAsync(IdaNode node)
    {
        var came = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        var group = await node.JoinAsync("g", g => g.Handle<string>("say", (_, text) => came.TrySetResult(text))).AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken);
        await group.OrderedSendAsync("say", "on");
        Assert.Equal("on", await came.Task.WaitAsync(Bound, TestContext.Current.CancellationToken));
    }

    private static Socket Listening(out string address)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        socket.Listen();
        address = socket.LocalEndPoint!.ToString()!;
        return socket;
    }

    private static string Free()
    {
        using var _ = Listening(out string address);
        return address;
    }
}
