using System.Buffers;
using System.Net;
using System.Net.Sockets;
using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using Ida.Nodes;
using Oracle;

namespace Ida.Process.Tests.Nodes;

/// <summary>What goes wrong at a start or in a call gives one typed error that says what it was, within a bounded time. With real sockets.</summary>
public sealed class NodeErrorTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    public static TheoryData<string> Ports => OperatingSystem.IsLinux() ? new("Epoll", "Completion") : new("Completion");

    [Fact]
    public async Task A_port_in_use_is_named()
    {
        using var other = Listening(out string address);
        var e = await Assert.ThrowsAsync<AddressInUseException>(() => StartAsync(new() { Cluster = "a", Listen = address }));
        Assert.Contains(address, e.Message, StringComparison.Ordinal);
    }

    /// <summary>A name with half a character would be another name to those that it is sent to.</summary>
    [Theory, InlineData("Cluster"), InlineData("Cluster", "Cluster is 'a\uFFFD'"), InlineData("Seeds"), InlineData("Tag"), InlineData("Membership"),
     InlineData("Membership", "Host"), InlineData("Groups")]
    public void An_option_that_is_null_or_half_a_character_is_named(string option, string? named = null)
    {
        var some = new IdaNodeOptions { Cluster = "a", Listen = "127.0.0.1:0" };
        var options = (option, named) switch
        {
            ("Cluster", null) => some with { Cluster = null! },
            ("Cluster", _) => some with { Cluster = "a\uD800" },
            ("Seeds", _) => some with { Seeds = null! },
            ("Tag", _) => some with { Tag = null! },
            ("Membership", null) => some with { Membership = null! },
            ("Membership", _) => some with { Membership = new() { Host = null! } },
            _ => some with { Groups = null! },
        };
        var e = Assert.ThrowsAny<ArgumentException>(() => { _ = IdaNode.StartAsync(options).AsTask(); });
        Assert.StartsWith(named ?? $"{option} is null", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_node_that_was_stopped_says_so()
    {
        var node = await StartAsync(new() { Cluster = "a" });
        Assert.Equal(MembershipState.Active, node.State);
        var group = await node.JoinAsync("g");
        await node.DisposeAsync();
        Assert.Equal(MembershipState.Stopped, node.State);
        Assert.True(node.Completion.IsCompletedSuccessfully);
        Assert.True(group.Completion.IsCompleted);
        await Assert.ThrowsAnyAsync<Exception>(() => group.SendAsync("any", 1).AsTask().WaitAsync(Patience));
        await Assert.ThrowsAsync<NodeStoppedException>(() => node.JoinAsync("g").AsTask().WaitAsync(Patience));
        await node.DisposeAsync().AsTask().WaitAsync(Patience);
    }

    [Fact]
    public void A_policy_that_names_none_is_refused()
    {
        var some = new IdaNodeOptions { Cluster = "a", Listen = "127.0.0.1:0" };
        foreach (var (options, name) in new[] { (some with { OnExcluded = (ExclusionPolicy)7 }, "OnExcluded"), (some with { OnFault = (ExclusionPolicy)(-1) }, "OnFault") })
            Assert.StartsWith($"{name} is", Assert.Throws<InvalidOptionException>(() => { _ = IdaNode.StartAsync(options).AsTask(); }).Message, StringComparison.Ordinal);
    }

    [Theory, InlineData((16L << 20) - 1), InlineData((1L << 40) + 1), InlineData(0), InlineData(-1)]
    public void Bytes_that_a_node_may_queue_have_limits(long bytes)
    {
        var e = Assert.Throws<InvalidOptionException>(() => { _ = IdaNode.StartAsync(new() { Cluster = "a", MaxQueuedBytes = bytes }).AsTask(); });
        Assert.Contains($"MaxQueuedBytes is {bytes}; allowed are 16777216 to 1099511627776", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_group_name_with_half_a_character_is_refused()
    {
        await using var node = await StartAsync(new() { Cluster = "a" });
        await Assert.ThrowsAsync<ArgumentException>(() => node.JoinAsync("g\uD800").AsTask().WaitAsync(Patience));
    }

    [Fact]
    public async Task A_seed_where_nobody_answers_is_named()
    {
        using var silent = Reserved(out string address);
        var e = await Assert.ThrowsAsync<ClusterUnreachableException>(() =>
            StartAsync(new() { Cluster = "a", Seeds = [address], Listen = "127.0.0.1:0", StartTimeout = TimeSpan.FromSeconds(2) }));
        Assert.Contains(address, e.Message, StringComparison.Ordinal);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_seed_of_another_cluster_is_named_at_once_counted_there_and_serves_on(string port)
    {
        await using var first = await StartAsync(new() { Cluster = "a" }, port);
        string address = first.Address.Text;
        // Without a timeout: only the refusal can end this start.
        var options = new IdaNodeOptions { Cluster = "b", Seeds = [address], Listen = "127.0.0.1:0", StartTimeout = Timeout.InfiniteTimeSpan };
        var e = await Assert.ThrowsAsync<WrongClusterException>(() => StartAsync(options, port));
        Assert.Contains(address, e.Message, StringComparison.Ordinal);
        Assert.True(first.Counters.Refused(RefusalReason.WrongCluster) > 0);
        await AssertServesAsync(first);
    }

    [Fact]
    public async Task One_seed_of_another_cluster_among_others_is_named_when_the_time_is_over()
    {
        await using var first = await StartAsync(new() { Cluster = "a" });
        using var silent = Reserved(out string nobody);
        var e = await Assert.ThrowsAsync<ClusterUnreachableException>(() =>
            StartAsync(new() { Cluster = "b", Seeds = [first.Address.Text, nobody], Listen = "127.0.0.1:0", StartTimeout = TimeSpan.FromSeconds(2) }));
        Assert.Contains($"{first.Address.Text} belongs to another cluster", e.Message, StringComparison.Ordinal);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Garbage_on_the_port_is_counted_and_dropped_and_the_node_serves_on(string port)
    {
        await using var node = await StartAsync(new() { Cluster = "a" }, port);
        byte[] garbage = new byte[100_000];
        new Random(5).NextBytes(garbage);
        await SayAsync(node, garbage);
        Assert.Equal(1, node.Counters.Refused(RefusalReason.Framing));
        // A real first frame, cut off; and a frame that is longer than any may be.
        byte[] hello = new HelloFrame("a", HelloFrame.Version, HelloFrame.Version, false, 7, 8, 9, 0, 0, "127.0.0.1:9").ToFrame();
        await SayAsync(node, hello.AsMemory(0, hello.Length / 2));
        Assert.Equal(1, node.Counters.Refused(RefusalReason.Handshake));
        FrameHeader.Write(hello, FrameType.Hello, 0, 0, LinkLimits.FrameBytes);
        await SayAsync(node, hello);
        Assert.Equal(2, node.Counters.Refused(RefusalReason.Framing));
        await AssertServesAsync(node);
    }

    [Fact]
    public async Task Bounds_of_groups_are_set_through_the_node_and_checked_by_it()
    {
        foreach (var (groups, named) in new (GroupHostOptions, string)[]
        {
            (new() { JoinTimeout = TimeSpan.FromMilliseconds(999) }, "JoinTimeout"), (new() { MaxCheckpointBytes = 1000 }, "MaxCheckpointBytes"),
            (new() { MaxJoinBacklogBytes = 1000 }, "MaxJoinBacklogBytes"),
        })
        {
            var error = await Assert.ThrowsAnyAsync<ArgumentException>(() => StartAsync(new() { Cluster = "a", Groups = groups }));
            Assert.Contains(named, error.Message, StringComparison.Ordinal);
        }
        // The state of the first node is more than the second may load.
        await using var first = await StartAsync(new() { Cluster = "a" });
        await using var second = await StartAsync(new() { Cluster = "a", Seeds = [first.Address.Text], Groups = new() { MaxCheckpointBytes = 1 << 20 } });
        await first.JoinAsync("g", static g => g.Checkpoint(static writer => writer.Write(new byte[2 << 20]), static _ => { }));
        var refused = await Record.ExceptionAsync(() => second.JoinAsync("g", static g => g.Checkpoint(static _ => { }, static _ => { })).AsTask().WaitAsync(TimeSpan.FromSeconds(30)));
        Assert.True(refused is not (null or TimeoutException), $"{refused}");
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

    [Theory]
    [InlineData("")]
    [InlineData("no port")]
    [InlineData("127.0.0.1")]
    [InlineData("127.0.0.1:0")]
    [InlineData("0.0.0.0:7700")]
    [InlineData("[::]:7700")]
    public async Task An_address_that_nobody_can_reach_is_not_advertised(string advertise)
    {
        var e = await Assert.ThrowsAnyAsync<ArgumentException>(() => StartAsync(new() { Cluster = "a", Advertise = advertise }));
        Assert.Equal(nameof(IdaNodeOptions.Advertise), e.ParamName);
        Assert.Contains($"'{advertise}'", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_tag_is_as_long_as_the_membership_service_keeps_it()
    {
        string most = new('ü', 32);
        await using var node = await StartAsync(new() { Cluster = "a", Tag = most });
        var group = await node.JoinAsync("g", _ => { }).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(most, Assert.Single(group.CurrentView.Members).Tag);
        var e = await Assert.ThrowsAsync<InvalidOptionException>(() => StartAsync(new() { Cluster = "a", Tag = most + "x" }));
        Assert.Contains("65 bytes of UTF-8; at most 64", e.Message, StringComparison.Ordinal);
        e = await Assert.ThrowsAsync<InvalidOptionException>(() => StartAsync(new() { Cluster = "a", Tag = "a\uD83D" }));
        Assert.Contains("Tag contains an unpaired surrogate", e.Message, StringComparison.Ordinal);
        Assert.Contains("unpaired surrogate", (await Assert.ThrowsAsync<JoinRefusedException>(async () => await node.JoinAsync("cut", g => g.Tag("a\uD83D")))).Message, StringComparison.Ordinal);
    }

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
        var group = await node.JoinAsync("g", _ => { }).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);
        var e = await Assert.ThrowsAsync<DhtConfigurationException>(() =>
            group.EnableDhtAsync(new() { ShardSize = shardSize, TargetSize = targetSize }, static maps => maps.Map<string, int>("m")).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Contains("Size", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_key_of_a_type_that_has_no_bytes_is_refused()
    {
        await using var node = await StartAsync(new() { Cluster = "a" });
        var group = await node.JoinAsync("g", _ => { }).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);
        var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }, static maps => maps.Map<Action, int>("m")).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);
        var e = await Assert.ThrowsAsync<UnsupportedTypeException>(async () =>
            await dht.Map<Action, int>("m").PutAsync([new(() => { }, 1)]).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken));
        Assert.Contains("System.Action", e.Message, StringComparison.Ordinal);
    }

    private static Task<IdaNode> StartAsync(IdaNodeOptions options) =>
        IdaNode.StartAsync(options, TestContext.Current.CancellationToken).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);

    private static Task<IdaNode> StartAsync(IdaNodeOptions options, string port) =>
        IdaNode.HostAsync(options, new LoopLifeHost(options, Enum.Parse<SocketPortKind>(port)), TestContext.Current.CancellationToken)
            .AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);

    /// <summary>A stranger says this and no more; returns when the node has closed the connection.</summary>
    private static async Task SayAsync(IdaNode node, ReadOnlyMemory<byte> bytes)
    {
        using var stranger = new TcpClient();
        await stranger.ConnectAsync(IPEndPoint.Parse(node.Address.Text), TestContext.Current.CancellationToken);
        var stream = stranger.GetStream();
        try
        {
            await stream.WriteAsync(bytes, TestContext.Current.CancellationToken);
            stranger.Client.Shutdown(SocketShutdown.Send);
            while (await stream.ReadAsync(new byte[100], TestContext.Current.CancellationToken).AsTask().WaitAsync(Patience) > 0) { }
        }
        catch (Exception error) when (error is IOException or SocketException)
        {
            // The node closes at the first wrong byte, which ends the write, or the read, early.
        }
    }

    private static async Task AssertServesAsync(IdaNode node)
    {
        var came = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        var group = await node.JoinAsync("g", g => g.Handle<string>("say", (_, text) => came.TrySetResult(text))).AsTask().WaitAsync(Patience, TestContext.Current.CancellationToken);
        await group.OrderedSendAsync("say", "on");
        Assert.Equal("on", await came.Task.WaitAsync(Patience, TestContext.Current.CancellationToken));
    }

    private static Socket Listening(out string address)
    {
        var socket = Reserved(out address);
        socket.Listen();
        return socket;
    }

    /// <summary>An address at which every dial is refused, and which nobody else gets.</summary>
    private static Socket Reserved(out string address)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        address = socket.LocalEndPoint!.ToString()!;
        return socket;
    }
}
