using System.Net;
using System.Net.Sockets;
using GroupCore.Diagnostics;
using GroupCore.Transport.Mesh;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace Ida.Process.Tests.Nodes;

/// <summary>Users' loggers may do what they like, and the node goes on.</summary>
public sealed class LoggerTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    // A stop takes at most 5 s, and more only where the machine is busy with other tests.
    private static readonly TimeSpan EndBound = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task A_logger_that_never_returns_holds_up_nothing()
    {
        using var release = new ManualResetEventSlim();
        var log = new LogCollector(_ => release.Wait());
        await WorksAsync(log);
        release.Set();
        // The first line is written before the logger blocks; the others come once it goes on.
        Assert.NotEmpty(log.Entries);
    }

    [Fact]
    public async Task A_logger_that_throws_holds_up_nothing()
    {
        var log = new LogCollector(static _ => throw new InvalidOperationException("on purpose"));
        await WorksAsync(log);
        Assert.Contains(log.Entries, static entry => entry.Name == "ViewInstalled");
    }

    [Fact]
    public async Task Lines_that_a_logger_throws_at_are_counted()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector(static _ => throw new InvalidOperationException("on purpose"));
        await using var node = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = log }, cancellation);
        await node.JoinAsync("g", cancellationToken: cancellation);
        // Lines are written one after the other, and there were some before this one.
        await log.FirstAsync("ViewInstalled").WaitAsync(Bound, cancellation);
        Assert.Matches("ida.node.log.failed: [1-9]", await node.DescribeAsync(cancellation));
    }

    /// <summary>The node goes on, and ends in time, while the logger has not returned from its first line.</summary>
    [Fact]
    public async Task Lines_that_a_logger_does_not_take_are_dropped_and_counted()
    {
        var cancellation = TestContext.Current.CancellationToken;
        using var release = new ManualResetEventSlim();
        var log = new LogCollector(_ => release.Wait());
        var node = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = log }, cancellation);
        var group = await node.JoinAsync("g", static g => g.Handle<string>("say", static (_, _) => { }), cancellationToken: cancellation);
        for (int i = 0; i < 2 * LogQueue.Capacity; i++) group.Protocol.Node.Log.TurnSlow(i);
        await group.OrderedSendAsync("say", "hello", cancellation).AsTask().WaitAsync(Bound, cancellation);
        Assert.InRange(group.Protocol.Node.Log.Dropped, LogQueue.Capacity, 2 * LogQueue.Capacity);
        Assert.Matches("ida.node.log.dropped: [1-9]", await node.DescribeAsync(cancellation));
        await node.DisposeAsync().AsTask().WaitAsync(EndBound, cancellation);
        release.Set();
        await log.FirstAsync("LinesDropped").WaitAsync(Bound, cancellation);
    }

    [Fact]
    public Task A_factory_that_throws_holds_up_nothing() => WorksAsync(new ThrowingFactory());

    /// <summary>A logger is called only on threads of the pool, outside of turns, so it may wait for the node itself.</summary>
    [Fact]
    public async Task A_logger_may_call_the_node()
    {
        IdaNode? node = null;
        var described = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        var log = new LogCollector(id =>
        {
            if (id.Name == "ViewInstalled" && node is not null) described.TrySetResult(node.DescribeAsync().AsTask().GetAwaiter().GetResult());
        });
        await using (node = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = log }, TestContext.Current.CancellationToken))
        {
            await node.JoinAsync("g", cancellationToken: TestContext.Current.CancellationToken);
            Assert.Contains("group g (", await described.Task.WaitAsync(Bound, TestContext.Current.CancellationToken), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Lines_have_the_category_of_their_project_and_name_the_node()
    {
        var log = new LogCollector();
        await WorksAsync(log);
        Assert.Equal(["Ida", "Ida.GroupCore", "Ida.Oracle"], log.Categories.Distinct().Order(StringComparer.Ordinal));
        Assert.All(log.Entries, static entry => Assert.Equal(entry.Id switch { < 2000 => "Ida.GroupCore", < 3000 => "Ida.Oracle", _ => "Ida" }, entry.Category));
        Assert.All(log.Entries, static entry => Assert.Contains("127.0.0.1:", entry.Message, StringComparison.Ordinal));
    }

    /// <summary>The line says which node it is, and why it is refused.</summary>
    [Fact]
    public async Task A_node_of_another_cluster_is_named_to_the_one_that_refuses_it()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector();
        await using var node = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = log }, cancellation);
        await Assert.ThrowsAsync<WrongClusterException>(async () => await IdaNode.StartAsync(new() { Cluster = "another", Seeds = [node.Address.Text], Listen = "127.0.0.1:0" }, cancellation));
        var refused = await log.FirstAsync("HandshakeRefused").WaitAsync(Bound, cancellation);
        Assert.Equal((1105, LogLevel.Warning), (refused.Id, refused.Level));
        Assert.Contains("it belongs to another cluster", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>The line says which versions the two nodes speak.</summary>
    [Fact]
    public async Task A_node_of_another_wire_version_is_named_to_the_one_that_refuses_it()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector();
        await using var node = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = log }, cancellation);
        const byte Later = HelloFrame.Version + 1;
        using var later = new TcpClient();
        await later.ConnectAsync(IPEndPoint.Parse(node.Address.Text), cancellation);
        await later.GetStream().WriteAsync(new HelloFrame("logger", Later, Later, false, 5, 0, HelloFrame.NoName, 0, 0, "127.0.0.1:9").ToFrame(), cancellation);
        var refused = await log.FirstAsync("HandshakeRefused").WaitAsync(Bound, cancellation);
        Assert.Contains($"127.0.0.1:9: it speaks wire version {Later}; this node speaks version {HelloFrame.Version}.", refused.Message, StringComparison.Ordinal);
    }

    private static async Task WorksAsync(ILoggerFactory factory)
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var first = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = factory }, cancellation).AsTask().WaitAsync(Bound, cancellation);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = factory, Seeds = [first.Address.Text], Listen = "127.0.0.1:0" }, cancellation).AsTask().WaitAsync(Bound, cancellation);
        var groups = new[] { await first.JoinAsync("g", cancellationToken: cancellation), await second.JoinAsync("g", cancellationToken: cancellation) };
        var dhts = await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 2 }, static maps => maps.Map<string, int>("m"), cancellation).AsTask())).WaitAsync(Bound, cancellation);
        for (int i = 0; i < 100; i++) await dhts[i % 2].Map<string, int>("m").PutAsync($"key {i}", i, cancellationToken: cancellation).AsTask().WaitAsync(Bound, cancellation);
        Assert.Contains("DHT: founded", await second.DescribeAsync(cancellation), StringComparison.Ordinal);
        await second.DisposeAsync().AsTask().WaitAsync(EndBound, cancellation);
        await first.DisposeAsync().AsTask().WaitAsync(EndBound, cancellation);
    }

    private sealed class ThrowingFactory : ILoggerFactory
    {
        public ILogger CreateLogger(string categoryName) => throw new InvalidOperationException("on purpose");

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public void Dispose()
        {
        }
    }
}
