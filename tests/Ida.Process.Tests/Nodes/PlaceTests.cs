using System.Diagnostics;
using System.Net.Sockets;
using System.Net;
using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Transport.Credentials;
using Ida.Nodes;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>Where nodes listen, what they tell others of it, and how they find each other: IPv6, all addresses of a machine, names, multicast.</summary>
public sealed class PlaceTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("0.0.0.0", false)]
    [InlineData("0.0.0.0", true)]
    [InlineData("[::]", false)]
    [InlineData("[::]", true)]
    public async Task A_node_that_listens_at_all_addresses_is_reached_by_each_and_tells_others_the_one_among_the_seeds(string all, bool portable)
    {
        Assert.SkipWhen(all == "[::]" && !Socket.OSSupportsIPv6, "skipped: this machine has no IPv6");
        var security = Security.ClusterKey(Security.NewClusterKey());
        int port = IPEndPoint.Parse(FreePort.Address()).Port;
        var options = new IdaNodeOptions { Cluster = "s", Seeds = [$"127.0.0.1:{port}"], Listen = $"{all}:{port}", Security = security };
        await using var node = await IdaNode.HostAsync(options, new LoopLifeHost(options, portable ? SocketPortKind.Completion : SocketPortKind.Auto), Cancellation).AsTask().WaitAsync(Bound, Cancellation);
        Assert.Equal($"127.0.0.1:{port}", node.Address.Text);
        await using var one = await StartAsync(new() { Cluster = "s", Seeds = [node.Address.Text], Security = security });
        await JoinAllAsync([node, one]);
        if (all == "0.0.0.0") return;
        await using var other = await StartAsync(new() { Cluster = "s", Seeds = [$"[::1]:{port}"], Listen = "[::1]:0", Security = security });
        Assert.StartsWith("[::1]:", other.Address.Text, StringComparison.Ordinal);
        await JoinAllAsync([node, one, other]);
    }

    /// <summary>Without seeds too: then it is an address of an interface, with the port that the system chose.</summary>
    [Fact]
    public async Task A_node_that_listens_at_all_addresses_tells_others_one_that_is_its_own()
    {
        await using var node = await StartAsync(new() { Cluster = "s", Listen = "0.0.0.0:0", Security = Security.ClusterKey(Security.NewClusterKey()) });
        var address = IPEndPoint.Parse(node.Address.Text);
        Assert.NotEqual(IPAddress.Any, address.Address);
        Assert.NotEqual(0, address.Port);
    }

    [Fact]
    public async Task Nodes_form_a_cluster_over_IPv6()
    {
        Assert.SkipUnless(Socket.OSSupportsIPv6, "skipped: this machine has no IPv6");
        await using var first = await StartAsync(new() { Cluster = "s", Listen = "[::1]:0" });
        Assert.StartsWith("[::1]:", first.Address.Text, StringComparison.Ordinal);
        await using var second = await StartAsync(new() { Cluster = "s", Seeds = [first.Address.Text], Listen = "[::1]:0" });
        await using var third = await StartAsync(new() { Cluster = "s", Seeds = [first.Address.Text] });
        await JoinAllAsync([first, second, third]);
    }

    /// <summary>The seed is this machine's own name, whatever addresses that has here.</summary>
    [Fact]
    public async Task A_name_leads_to_the_cluster()
    {
        string name = Dns.GetHostName();
        IPAddress[] addresses = [];
        try
        {
            addresses = await Dns.GetHostAddressesAsync(name, Cancellation);
        }
        catch (SocketException)
        {
            // Then it stands for none.
        }
        Assert.SkipWhen(Array.TrueForAll(addresses, static one => one.IsIPv6LinkLocal), $"skipped: no address is known for this machine's own name, {name}");
        var security = Security.ClusterKey(Security.NewClusterKey());
        int port = IPEndPoint.Parse(FreePort.Address()).Port;
        var options = new IdaNodeOptions { Cluster = "s", Seeds = [$"{name}:{port}"], Listen = "[::]:0", Security = security };
        await using var first = await StartAsync(options with { Listen = $"[::]:{port}" });
        await using var second = await StartAsync(options);
        await JoinAllAsync([first, second]);
    }

    [Fact]
    public async Task A_name_that_stands_for_nothing_is_named_when_the_time_is_over()
    {
        var watch = Stopwatch.StartNew();
        foreach (var options in (IdaNodeOptions[])[
            new() { Cluster = "s", Seeds = ["no-such-host.invalid:7700"], Listen = "127.0.0.1:0" },
            new() { Cluster = "s", Seeds = ["no-such-host.invalid:7700"], Listen = "0.0.0.0:0", Security = Security.ClusterKey(Security.NewClusterKey()) },
            new() { Cluster = "s", Seeds = ["no-such-host.invalid:7700"], Security = Security.ClusterKey(Security.NewClusterKey()) },
            new() { Cluster = "s", Seeds = ["127.0.0.1:7700"], Listen = "127.0.0.1:0", Advertise = "no-such-host.invalid:7700" },
        ])
        {
            var error = await Assert.ThrowsAsync<ClusterUnreachableException>(() => StartAsync(options with { StartTimeout = TimeSpan.FromSeconds(4) }));
            Assert.Contains("no address is known", error.Message, StringComparison.Ordinal);
            Assert.Contains("no-such-host.invalid", error.Message, StringComparison.Ordinal);
        }
        Assert.True(watch.Elapsed < TimeSpan.FromSeconds(60));
    }

    [Fact]
    public async Task A_start_may_take_as_long_as_anybody_likes()
    {
        foreach (var time in (TimeSpan[])[TimeSpan.MaxValue, TimeSpan.FromDays(60), Timeout.InfiniteTimeSpan])
        {
            await using var node = await StartAsync(new() { Cluster = "s", Listen = "0.0.0.0:0", Security = Security.ClusterKey(Security.NewClusterKey()), StartTimeout = time });
            Assert.NotEqual(0, IPEndPoint.Parse(node.Address.Text).Port);
        }
    }

    [Fact]
    public async Task A_start_that_waits_for_a_name_can_be_given_up()
    {
        using var given = new CancellationTokenSource();
        var start = IdaNode.StartAsync(new() { Cluster = "s", Seeds = ["no-such-host.invalid:7700"], Security = Security.ClusterKey(Security.NewClusterKey()), StartTimeout = Timeout.InfiniteTimeSpan }, given.Token).AsTask();
        await given.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => start.WaitAsync(Bound, Cancellation));
    }

    [Fact]
    public async Task Nodes_find_each_other_by_multicast_and_clusters_of_other_names_do_not_mix()
    {
        var nodes = new List<IdaNode>();
        var others = new List<IdaNode>();
        string cluster = $"lan-{Environment.ProcessId}";
        try
        {
            await Task.WhenAll(Enumerable.Range(0, 3).Select(async _ =>
            {
                var node = await StartAsync(OnLan(cluster));
                lock (nodes) nodes.Add(node);
            }));
            nodes.Add(await StartAsync(OnLan(cluster)));
            others.Add(await StartAsync(OnLan($"{cluster}-other")));
            await JoinAllAsync(nodes);
            Assert.Single(nodes.ConvertAll(static node => node.System.ToString()).Distinct());
            Assert.NotEqual(nodes[0].System.ToString(), others[0].System.ToString());
        }
        finally
        {
            foreach (var node in nodes.Concat(others)) await node.DisposeAsync();
        }
    }

    private static IdaNodeOptions OnLan(string cluster) => new() { Cluster = cluster, Seeds = ["multicast"] };

    private static Task<IdaNode> StartAsync(IdaNodeOptions options) => IdaNode.StartAsync(options, Cancellation).AsTask().WaitAsync(Bound, Cancellation);

    private static async Task JoinAllAsync(List<IdaNode> nodes)
    {
        var groups = await Task.WhenAll(nodes.Select(node => node.JoinAsync($"g{nodes.Count}", cancellationToken: Cancellation).AsTask())).WaitAsync(Bound, Cancellation);
        foreach (var group in groups) await SeesAsync(group, nodes.Count).WaitAsync(Bound, Cancellation);
    }

    private static async Task SeesAsync(Group group, int members)
    {
        await foreach (var view in group.Views(Cancellation))
            if (view.Members.Count == members) return;
    }
}
