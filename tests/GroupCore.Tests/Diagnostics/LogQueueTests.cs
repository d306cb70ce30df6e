using GroupCore.Diagnostics;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace GroupCore.Tests.Diagnostics;

/// <summary>A logger is user code: it may block or throw. Only the queue waits for it.</summary>
public sealed class LogQueueTests
{
    [Fact]
    public void Lines_come_in_the_order_of_the_calls()
    {
        var collector = new LogCollector();
        var queue = new LogQueue(collector);
        Assert.True(queue.Add(Line(0)));
        for (int i = 1; i < 100; i++) Assert.False(queue.Add(Line(i)), "There is a worker already.");
        queue.Write();
        Assert.Equal(Enumerable.Range(0, 100).Select(static i => $"line {i}"), collector.Entries.Select(static entry => entry.Message));
        Assert.Equal(["test"], collector.Categories);
        Assert.True(queue.Add(Line(100)), "The worker has gone.");
    }

    [Fact]
    public void What_is_beyond_the_bound_is_dropped_and_the_log_says_so_once_it_goes_on()
    {
        var collector = new LogCollector();
        var queue = new LogQueue(collector);
        for (int i = 0; i < LogQueue.Capacity + 7; i++) queue.Add(Line(i));
        Assert.Equal(LogQueue.Capacity, queue.Waiting);
        Assert.Equal(7, queue.Dropped);
        queue.Write();
        Assert.Equal(LogQueue.Capacity + 1, collector.Entries.Count);
        var told = Assert.Single(collector.Entries, static entry => entry.Name == "LinesDropped");
        Assert.StartsWith("7 log lines were dropped", told.Message, StringComparison.Ordinal);
        queue.Add(Line(0));
        queue.Write();
        Assert.Single(collector.Entries, static entry => entry.Name == "LinesDropped");
    }

    [Fact]
    public void A_logger_that_throws_loses_its_line_and_no_other()
    {
        int calls = 0;
        var queue = new LogQueue(new LogCollector(_ =>
        {
            if (++calls % 2 == 1) throw new InvalidOperationException("on purpose");
        }));
        for (int i = 0; i < 10; i++) queue.Add(Line(i));
        queue.Write();
        Assert.Equal(10, calls);
        Assert.Equal(5, queue.Failed);
        Assert.Equal(0, queue.Waiting);
    }

    [Fact]
    public void A_factory_that_throws_is_asked_again()
    {
        var factory = new FailingFactory();
        var queue = new LogQueue(factory);
        queue.Add(Line(1));
        queue.Write();
        queue.Add(Line(2));
        queue.Write();
        Assert.Equal(2, queue.Failed);
        Assert.Equal(2, factory.Asked);
    }

    /// <summary>While the logger has not returned from the first line, a caller that adds another goes on at once, and no second thread writes.</summary>
    [Fact]
    public async Task A_logger_that_blocks_holds_up_nobody()
    {
        using var release = new ManualResetEventSlim();
        var blocked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var collector = new LogCollector(_ =>
        {
            blocked.TrySetResult();
            release.Wait();
        });
        var queue = new LogQueue(collector);
        Assert.True(queue.Add(Line(0)));
        var worker = Task.Run(queue.Write, TestContext.Current.CancellationToken);
        await blocked.Task;
        for (int i = 1; i <= 3 * LogQueue.Capacity; i++) Assert.False(queue.Add(Line(i)));
        Assert.Equal(LogQueue.Capacity, queue.Waiting);
        Assert.Equal(2 * LogQueue.Capacity, queue.Dropped);
        release.Set();
        await worker;
        Assert.Equal(LogQueue.Capacity + 2, collector.Entries.Count);
    }

    [Fact]
    public void Many_threads_lose_no_line_and_have_one_worker_at_a_time()
    {
        const int Threads = 4, Lines = 200;
        int at = 0, most = 0;
        var collector = new LogCollector(_ =>
        {
            most = Math.Max(most, Interlocked.Increment(ref at));
            Interlocked.Decrement(ref at);
        });
        var queue = new LogQueue(collector);
        Parallel.For(0, Threads, thread =>
        {
            for (int i = 0; i < Lines; i++)
                if (queue.Add(Line(i))) queue.Write();
        });
        Assert.Equal(Threads * Lines, collector.Entries.Count + queue.Dropped - collector.Entries.Count(static entry => entry.Name == "LinesDropped"));
        Assert.Equal(0, queue.Waiting);
        Assert.Equal(1, most);
    }

    [Fact]
    public void A_node_without_a_logger_makes_nothing()
    {
        NodeLog.None.TurnSlow(1);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 1_000; i++)
        {
            NodeLog.None.TurnSlow(i);
            NodeLog.None.CallsRefused("g", i, i);
        }
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    private static LogLine<int> Line(int number) => new("test", number, static (logger, number) => logger.Log(LogLevel.Information, new EventId(1, "Line"), number, null, static (number, _) => $"line {number}"));

    private sealed class FailingFactory : ILoggerFactory
    {
        public int Asked { get; private set; }

        public ILogger CreateLogger(string categoryName)
        {
            Asked++;
            throw new InvalidOperationException("on purpose");
        }

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public void Dispose()
        {
        }
    }
}
