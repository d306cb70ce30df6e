using System.Collections.Concurrent;
using GroupCore.Groups.Dispatch;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>An error outside users' code, where a group's events are handled, would leave the group with handlers that are never called again. So it ends the node.</summary>
public sealed class DispatcherFaultTests
{
    /// <summary>It throws at once or after a wait of the handler, on a worker or, where handlers are inline, on the loop.</summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task What_throws_beside_users_code_ends_the_node(bool later, bool inline)
    {
        await using var loop = NodeLoop.Start(new() { Cluster = "test" });
        var target = new Target(later);
        Assert.True(loop.Node.TryPost(new ActionCommand(() =>
        {
            var dispatcher = new Dispatcher(loop.Node, target, inline);
            dispatcher.Add(default);
            dispatcher.Publish();
        })));
        await loop.Ended.WaitAsync(TestNode.Patience, TestContext.Current.CancellationToken);
        Assert.Equal(1, target.Handled);
        Assert.Equal("on purpose", Assert.IsType<InvalidDataException>(loop.Fault).Message);
    }

    /// <summary>No other path reports the error then; and no task may end with it unobserved.</summary>
    [Fact]
    public async Task A_fault_is_told_though_the_node_has_ended_already()
    {
        var token = TestContext.Current.CancellationToken;
        await using var loop = NodeLoop.Start(new() { Cluster = "test" });
        var told = new TaskCompletionSource<Exception>();
        var target = new Target(later: true) { Wait = new(), Message = Guid.NewGuid().ToString() };
        var unobserved = new ConcurrentQueue<Exception>();
        EventHandler<UnobservedTaskExceptionEventArgs> note = (_, args) => unobserved.Enqueue(args.Exception);
        loop.Faulted += error => told.TrySetResult(error);
        Assert.True(loop.Node.TryPost(new ActionCommand(() =>
        {
            var dispatcher = new Dispatcher(loop.Node, target, inline: false);
            dispatcher.Add(default);
            dispatcher.Publish();
        })));
        await target.Called.Task.WaitAsync(TestNode.Patience, token);
        await loop.StopAsync().WaitAsync(TestNode.Patience, token);
        Assert.False(told.Task.IsCompleted);
        TaskScheduler.UnobservedTaskException += note;
        try
        {
            target.Wait.SetResult();
            Assert.Equal(target.Message, (await told.Task.WaitAsync(TestNode.Patience, token)).Message);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        finally
        {
            TaskScheduler.UnobservedTaskException -= note;
        }
        // Other tests run in parallel.
        Assert.DoesNotContain(unobserved, error => error.ToString().Contains(target.Message, StringComparison.Ordinal));
    }

    /// <summary>
    /// A stop that was already requested ends the node before the turn in which the error would have ended it, whether the queue then has room for another command or is full.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_stop_that_comes_first_does_not_hide_the_fault(bool full)
    {
        var token = TestContext.Current.CancellationToken;
        await using var loop = NodeLoop.Start(new() { Cluster = "test", CommandCapacity = 16 });
        using var thrown = new ManualResetEventSlim();
        var target = new Target(later: true) { Wait = new() };
        loop.Faulted += _ => thrown.Set();
        Assert.True(loop.Node.TryPost(new ActionCommand(() =>
        {
            loop.Node.AtStop(new StopListener(() =>
            {
                while (full && loop.Node.TryPost(new ActionCommand(static () => { })))
                {
                }
                target.Wait.SetResult();
                Assert.True(thrown.Wait(TestNode.Patience, token));
            }));
            var dispatcher = new Dispatcher(loop.Node, target, inline: false);
            dispatcher.Add(default);
            dispatcher.Publish();
        })));
        await target.Called.Task.WaitAsync(TestNode.Patience, token);
        await loop.StopAsync().WaitAsync(TestNode.Patience, token);
        Assert.Equal("on purpose", Assert.Single(Assert.IsType<AggregateException>(loop.Fault).Flatten().InnerExceptions).Message);
    }

    /// <summary>The waiting callers have been told that the node was stopped, and the node still sends what is queued, to a peer that acknowledges nothing.</summary>
    [Fact]
    public async Task A_fault_is_told_though_the_node_was_stopped_and_only_sends_what_is_queued()
    {
        // If this thread is late, the node has already ended, and the test tries again.
        for (int i = 0; i < 50; i++)
            if (await FailsBehindTheStopAsync()) return;
        Assert.Fail("The node was over each time.");
    }

    // False if the node ended first.
    private static async Task<bool> FailsBehindTheStopAsync()
    {
        var token = TestContext.Current.CancellationToken;
        using var thrown = new ManualResetEventSlim();
        bool heard = false;
        using var other = new RawPeer("test", 77, "127.0.0.1:1", 1, (header, _) => heard |= header.Type == FrameType.Data);
        var (target, up) = (new Target(later: true) { Wait = new() }, new UpObserver());
        await using var loop = NodeLoop.Start(new() { Cluster = "test" }, node => node.Observe(up));
        loop.Faulted += _ => thrown.Set();
        Assert.Equal(HelloStatus.Accepted, other.Connect(loop.Local));
        int peer = await up.Peer.Task.WaitAsync(TestNode.Patience, token);
        Assert.True(loop.Node.TryPost(new ActionCommand(() =>
        {
            // No turn follows, so the peer that hears this knows that the rest is being sent.
            loop.Node.AtStop(new StopListener(() => TestNode.Write(loop.Node, [peer], 0, 10)));
            var dispatcher = new Dispatcher(loop.Node, target, inline: false);
            dispatcher.Add(default);
            dispatcher.Publish();
        })));
        await target.Called.Task.WaitAsync(TestNode.Patience, token);
        var stopped = loop.StopAsync();
        Assert.True(other.Wait(() => heard, (long)TestNode.Patience.TotalMilliseconds));
        target.Wait.SetResult();
        Assert.True(thrown.Wait(TestNode.Patience, token));
        bool stood = !other.WaitForEnd(1);
        await stopped.WaitAsync(TestNode.Patience, token);
        if (stood) Assert.Equal("on purpose", Assert.Single(Assert.IsType<AggregateException>(loop.Fault).Flatten().InnerExceptions).Message);
        return stood;
    }

    private sealed class UpObserver : ILinkObserver
    {
        public TaskCompletionSource<int> Peer { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void OnLinkUp(int peer) => Peer.TrySetResult(peer);

        public void OnLinkFault(int peer, LinkFault fault)
        {
        }
    }

    private sealed class StopListener(Action stop) : IStopListener
    {
        public void OnStop(Exception reason) => stop();
    }

    private sealed class Target(bool later) : IEventTarget
    {
        public int Handled { get; private set; }

        public TaskCompletionSource Called { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>What the handler waits for before it throws.</summary>
        public TaskCompletionSource? Wait { get; init; }

        /// <summary>The message of the exception that it throws.</summary>
        public string Message { get; init; } = "on purpose";

        public ExecutionContext Context { get; } = ExecutionContext.Capture()!;

        public Exception? Skipped => null;

        public object? Enter() => null;

        public void Exit(object? outer)
        {
        }

        public ValueTask Handle(ref GroupEvent entry)
        {
            Handled++;
            Called.TrySetResult();
            return later ? LaterAsync() : throw new InvalidDataException(Message);
        }

        public bool OnHandled(long events) => false;

        public void OnDropped(in GroupEvent entry)
        {
        }

        public void OnProgress()
        {
        }

        private async ValueTask LaterAsync()
        {
            await Task.Yield();
            if (Wait is { } wait) await wait.Task;
            throw new InvalidDataException(Message);
        }
    }
}
