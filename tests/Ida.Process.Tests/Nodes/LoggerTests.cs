using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace Ida.Process.Tests.Nodes;

/// <summary>Loggers of users do what they like, and the node goes on.</summary>
public sealed class LoggerTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

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
    public Task A_factory_that_throws_holds_up_nothing() => WorksAsync(new ThrowingFactory());

    /// <summary>It is called on threads of the pool alone, outside of turns: there it may wait for the node itself.</summary>
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

    private static async Task WorksAsync(ILoggerFactory factory)
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var first = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = factory }, cancellation).AsTask().WaitAsync(Bound, cancellation);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "logger", LoggerFactory = factory, Seeds = [first.Address.Text], Listen = "127.0.0.1:0" }, cancellation).AsTask().WaitAsync(Bound, cancellation);
        var groups = new[] { await first.JoinAsync("g", cancellationToken: cancellation), await second.JoinAsync("g", cancellationToken: cancellation) };
        var dhts = await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 2 }, static maps => maps.Map<string, int>("m"), cancellation).AsTask())).WaitAsync(Bound, cancellation);
        for (int i = 0; i < 100; i++) await dhts[i % 2].Map<string, int>("m").PutAsync($"key {i}", i, cancellationToken: cancellation).AsTask().WaitAsync(Bound, cancellation);
        Assert.Contains("DHT: founded", await second.DescribeAsync(cancellation), StringComparison.Ordinal);
        await second.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        await first.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
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
