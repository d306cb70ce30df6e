using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;

namespace GroupCore.Tests.Runtime;

/// <summary>A node is run by the two threads of its loop and by its callers, one at a time.</summary>
public sealed class TurnSharingTests
{
    private const int ManyBatches = 300;

    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    private static NodeLoop Start(string port, int spinMicroseconds, Action<INode>? compose = null) => NodeLoop.Start(
        new() { Cluster = "test", Port = Enum.Parse<SocketPortKind>(port), Spin = TimeSpan.FromMicroseconds(spinMicroseconds) }, compose);

    [Theory, MemberData(nameof(Ports))]
    public async Task A_caller_that_finds_the_loop_asleep_runs_its_command_and_has_the_result_when_the_call_returns(string port)
    {
        await using var loop = Start(port, 0);
        Assert.True(SpinWait.SpinUntil(() =>
        {
            var call = new Call(loop.Node, atOnce: false);
            Assert.True(loop.Node.TryPost(call));
            return call.IsDone && call.RanOn == Environment.CurrentManagedThreadId && call.CompletedOn == Environment.CurrentManagedThreadId;
        }, TestNode.Patience));
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task What_was_promised_to_the_loop_never_runs_on_a_callers_thread(string port)
    {
        await using var loop = Start(port, 0, static node => node.KeepTurns());
        for (int i = 0; i < 200; i++)
        {
            var call = new Call(loop.Node, atOnce: true);
            Assert.True(loop.Node.TryPost(call));
            await call.Done.WaitAsync(TestNode.Patience);
            Assert.StartsWith("node:", call.ThreadName, StringComparison.Ordinal);
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Commands_frames_and_timers_never_run_two_at_a_time(string port)
    {
        const int Threads = 4, Each = 5_000;
        var one = new OneAtATime();
        await using var peer = new TestNode(Enum.Parse<SocketPortKind>(port));
        await using var loop = Start(port, 5, node => one.Node = node);
        one.Peer = await one.Do(node => node.Links.Open(peer.Address));
        await one.Do(node => node.SetTimer(node.Now, one, 0));
        await Task.WhenAll(Enumerable.Range(0, Threads).Select(thread => Task.Run(async () =>
        {
            for (int i = 0; i < Each; i++)
            {
                await one.Do(static node => 0, atOnce: (i & 1) == 0);
                // Now and then all callers are quiet until the loop has slept: its next timer wakes it.
                if (i % 500 < Threads) await one.NextTick;
            }
        }))).WaitAsync(TestNode.Patience);
        Assert.False(one.Overlapped);
        Assert.True(one.Ticks > 0);
        await peer.Until(() => peer.Got >= Threads * Each, "frames that callers' turns sent were lost");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_completion_that_blocks_does_not_keep_the_node_from_serving(string port)
    {
        await using var loop = Start(port, 20);
        // Short completions first, so that no thread is called for the next one.
        for (int i = 0; i < ManyBatches; i++) await new Call(loop.Node, atOnce: false).PostAsync();
        using var open = new ManualResetEventSlim();
        using var all = new CountdownEvent(3);
        // Both threads of the loop get stuck, and the pool gets the third completion.
        for (int i = 0; i < 3; i++)
        {
            Assert.True(loop.Node.TryPost(new Then(loop.Node, () =>
            {
                Assert.True(open.Wait(TestNode.Patience));
                all.Signal();
            })));
        }
        var after = new Call(loop.Node, atOnce: false);
        await after.PostAsync().WaitAsync(TestNode.Patience);
        Assert.Equal(3, all.CurrentCount);
        open.Set();
        Assert.True(all.Wait(TestNode.Patience));
        await new Call(loop.Node, atOnce: false).PostAsync().WaitAsync(TestNode.Patience);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_can_be_stopped_by_its_own_completion_that_waits_for_it(string port)
    {
        var loop = Start(port, 20);
        var stopped = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Assert.True(loop.Node.TryPost(new Then(loop.Node, () =>
        {
            Assert.True(loop.StopAsync().Wait(TestNode.Patience));
            stopped.SetResult();
        })));
        await stopped.Task.WaitAsync(TestNode.Patience);
        await loop.Ended.WaitAsync(TestNode.Patience);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Completions_behind_one_that_blocks_run_even_if_the_node_stops_meanwhile(string port)
    {
        for (int round = 0; round < 10; round++)
        {
            var loop = Start(port, 20);
            // Odd rounds find a node whose completions have been short.
            for (int i = 0; i < ManyBatches * (round & 1); i++) await new Call(loop.Node, atOnce: false).PostAsync();
            using var second = new ManualResetEventSlim();
            var first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Assert.True(loop.Node.TryPost(new Then(loop.Node,
                () =>
                {
                    _ = loop.StopAsync();
                    Assert.True(second.Wait(TestNode.Patience));
                    first.SetResult();
                },
                second.Set)));
            await first.Task.WaitAsync(TestNode.Patience);
            await loop.Ended.WaitAsync(TestNode.Patience);
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_caller_of_a_node_that_stopped_meanwhile_is_answered(string port)
    {
        for (int round = 0; round < 50; round++)
        {
            var loop = Start(port, 20);
            var go = new TaskCompletionSource();
            var callers = Enumerable.Range(0, 3).Select(_ => Task.Run(async () =>
            {
                await go.Task;
                var call = new Call(loop.Node, atOnce: true);
                if (loop.Node.TryPost(call)) await Record.ExceptionAsync(() => call.Done);
            })).ToArray();
            go.SetResult();
            await loop.StopAsync();
            await Task.WhenAll(callers).WaitAsync(TestNode.Patience);
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_listener_that_throws_at_a_fault_does_no_harm(string port)
    {
        await using var loop = Start(port, 20);
        loop.Faulted += static _ => throw new InvalidOperationException("the listener's own");
        for (int i = 0; i < 20; i++)
        {
            Assert.True(loop.Node.TryPost(new Then(loop.Node, static () => throw new InvalidDataException("on purpose"))));
            await new Call(loop.Node, atOnce: false).PostAsync().WaitAsync(TestNode.Patience);
        }
        Assert.Null(loop.Fault);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task What_a_completion_leaves_in_its_context_does_not_reach_the_next(string port)
    {
        await using var loop = Start(port, 20);
        var local = new AsyncLocal<string>();
        for (int i = 0; i < ManyBatches; i++)
        {
            var seen = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
            Assert.True(loop.Node.TryPost(new Then(loop.Node, () =>
            {
                string? before = local.Value;
                local.Value = "left";
                seen.SetResult(before);
            })));
            Assert.Null(await seen.Task.WaitAsync(TestNode.Patience));
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_command_that_throws_on_a_callers_thread_stops_the_node_and_spares_the_caller(string port)
    {
        for (int round = 0; round < 20; round++)
        {
            var loop = Start(port, 0);
            await new Call(loop.Node, atOnce: false).PostAsync();
            Assert.True(loop.Node.TryPost(new Then(null!, () => { })));
            await loop.Ended.WaitAsync(TestNode.Patience);
            Assert.IsType<NullReferenceException>(loop.Fault);
        }
    }

    /// <summary>Completes its caller when it has run.</summary>
    private sealed class Call(INode node, bool atOnce) : NodeCommand, ICompletion
    {
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

        internal override bool AtOnce => atOnce;

        public Task Done => _done.Task;

        public bool IsDone => _done.Task.IsCompleted;

        public int RanOn { get; private set; }

        public int CompletedOn { get; private set; }

        public string ThreadName { get; private set; } = "";

        public Task PostAsync()
        {
            Assert.True(node.TryPost(this));
            return Done;
        }

        public override void Run()
        {
            (RanOn, ThreadName) = (Environment.CurrentManagedThreadId, Thread.CurrentThread.Name ?? "");
            node.Complete(this);
        }

        internal override bool IsKept => true;

        public override void Abandon(Exception reason) => _done.SetException(reason);

        void ICompletion.Run()
        {
            CompletedOn = Environment.CurrentManagedThreadId;
            _done.SetResult();
        }
    }

    /// <summary>A command whose completions are some actions.</summary>
    private sealed class Then(INode node, params Action[] actions) : NodeCommand
    {
        public override void Run()
        {
            foreach (var action in actions) node.Complete(new Late(action));
        }

        public override void Abandon(Exception reason)
        {
        }

        private sealed class Late(Action action) : ICompletion
        {
            public void Run() => action();
        }
    }

    /// <summary>Notices when two of its calls overlap.</summary>
    private sealed class OneAtATime : ITimerTarget
    {
        private int _inside;
        private TaskCompletionSource _nextTick = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public INode Node { get; set; } = null!;

        public int Peer { get; set; } = -1;

        public bool Overlapped { get; private set; }

        public int Ticks { get; private set; }

        public Task NextTick => Volatile.Read(ref _nextTick).Task;

        public Task<int> Do(Func<INode, int> work, bool atOnce = false)
        {
            var step = new Step(this, work, atOnce);
            Assert.True(Node.TryPost(step));
            return step.Done;
        }

        public Task Do(Action<INode> work) => Do(node =>
        {
            work(node);
            return 0;
        });

        public void OnTimer(long token)
        {
            Inside(() => Ticks++);
            Interlocked.Exchange(ref _nextTick, new(TaskCreationOptions.RunContinuationsAsynchronously)).SetResult();
            Node.SetTimer(Node.Now + 50_000, this, 0);
        }

        private void Inside(Action action)
        {
            if (Interlocked.Exchange(ref _inside, 1) != 0) Overlapped = true;
            action();
            Thread.SpinWait(20);
            Volatile.Write(ref _inside, 0);
        }

        private sealed class Step(OneAtATime owner, Func<INode, int> work, bool atOnce) : NodeCommand, ICompletion
        {
            private readonly TaskCompletionSource<int> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
            private int _result;

            internal override bool AtOnce => atOnce;

            public Task<int> Done => _done.Task;

            public override void Run() => owner.Inside(() =>
            {
                _result = work(owner.Node);
                if (owner.Peer >= 0) TestNode.Write(owner.Node, [owner.Peer], 1, 10);
                owner.Node.Complete(this);
            });

            public override void Abandon(Exception reason) => _done.SetException(reason);

            void ICompletion.Run() => _done.SetResult(_result);
        }
    }
}
