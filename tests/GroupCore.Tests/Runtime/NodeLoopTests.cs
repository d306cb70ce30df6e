using System.Net;
using System.Net.Sockets;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;
using GroupCore.Transport;

namespace GroupCore.Tests.Runtime;

public sealed class NodeLoopTests
{
    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    private static NodeLoopOptions Options(string port = "Auto") => new() { Cluster = "test", Port = Enum.Parse<SocketPortKind>(port) };

    [Theory, MemberData(nameof(Ports))]
    public async Task A_port_in_use_is_one_clear_error(string port)
    {
        await using var first = NodeLoop.Start(Options(port));
        var error = Assert.Throws<AddressInUseException>(() => NodeLoop.Start(Options(port) with { Listen = first.Local.Text }));
        Assert.Contains(first.Local.Text, error.Message, StringComparison.Ordinal);
    }

    /// <summary>The system is at its limit of threads: a start that fails leaves no thread behind, and the port is free.</summary>
    [Theory]
    [InlineData("Auto", 0), InlineData("Auto", 1), InlineData("Completion", 0), InlineData("Completion", 1)]
    public async Task A_start_to_which_the_system_refuses_a_thread_leaves_nothing_behind(string port, int allowed)
    {
        await using var before = NodeLoop.Start(Options(port));
        string address = before.Local.Text;
        await before.StopAsync();
        var started = new List<Thread>();
        Assert.Throws<InsufficientMemoryException>(() => NodeLoop.Start(Options(port) with
        {
            Listen = address,
            StartThread = thread =>
            {
                if (started.Count == allowed) throw new InsufficientMemoryException("No thread.");
                started.Add(thread);
                thread.UnsafeStart();
            },
        }));
        foreach (var thread in started) Assert.True(thread.Join(TestNode.Patience));
        await using var after = NodeLoop.Start(Options(port) with { Listen = address });
    }

    [Theory]
    [InlineData("0.0.0.0:0"), InlineData("[::]:0"), InlineData("192.0.2.1:7700")]
    public void G10_1_listening_beyond_loopback_is_refused(string listen) =>
        Assert.Throws<InsecureBindException>(() => NodeLoop.Start(Options() with { Listen = listen }));

    [Fact]
    public void Options_outside_their_limits_are_refused_by_name()
    {
        Refused(Options() with { Cluster = "" }, "Cluster");
        Refused(Options() with { Cluster = new('x', 256) }, "Cluster");
        Refused(Options() with { Spin = TimeSpan.FromSeconds(1) }, "Spin");
        Refused(Options() with { CommandCapacity = 1 }, "CommandCapacity");
        foreach (string listen in new[] { "", "nonsense", "127.0.0.1", "127.0.0.1:70000", "example.org:80", "::1:80" }) Refused(Options() with { Listen = listen }, listen);

        static void Refused(NodeLoopOptions options, string named) =>
            Assert.Contains(named, Assert.Throws<ArgumentException>(() => NodeLoop.Start(options)).Message, StringComparison.Ordinal);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Commands_of_many_threads_run_once_each_and_a_full_queue_makes_callers_wait(string port)
    {
        const int Threads = 4, Each = 20_000;
        await using var loop = NodeLoop.Start(Options(port) with { CommandCapacity = 64 });
        var counter = new Counter(Threads * Each);
        await Task.WhenAll(Enumerable.Range(0, Threads).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; i < Each; i++)
                await loop.Node.PostAsync(counter, TestContext.Current.CancellationToken);
        })));
        await counter.All.WaitAsync(TestNode.Patience);
        Assert.Equal(0, counter.Abandoned);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Timers_fire_in_order_and_not_before_they_are_due(string port)
    {
        var timers = new Timers();
        await using var loop = NodeLoop.Start(Options(port), node =>
        {
            timers.Node = node;
            for (int i = 9; i >= 0; i--) timers.Due[i] = node.Now + (i * 3_000_000);
            for (int i = 9; i >= 0; i--) node.SetTimer(timers.Due[i], timers, i);
        });
        await timers.Done.Task.WaitAsync(TestNode.Patience);
        Assert.Equal(Enumerable.Range(0, 10).Select(i => (long)i), timers.Fired);
        Assert.False(timers.Early);
    }

    [Fact]
    public async Task A_completion_that_blocks_holds_up_no_other()
    {
        await using var node = new TestNode(SocketPortKind.Auto);
        using var open = new ManualResetEventSlim();
        using var countdown = new CountdownEvent(20);
        await node.Do(n =>
        {
            for (int i = 0; i < 20; i++)
            {
                // The first two wait for the last: on one runner they would wait for ever.
                int number = i;
                n.Complete(new Completion(() =>
                {
                    if (number < 2) Assert.True(open.Wait(TestNode.Patience));
                    if (number == 19) open.Set();
                    countdown.Signal();
                }));
            }
        });
        Assert.True(countdown.Wait(TestNode.Patience));
    }

    [Fact]
    public async Task A_completion_that_throws_is_told_and_harms_no_other()
    {
        await using var node = new TestNode(SocketPortKind.Auto);
        var told = new TaskCompletionSource<Exception>();
        var other = new TaskCompletionSource();
        node.Loop.Faulted += error => told.TrySetResult(error);
        await node.Do(n =>
        {
            n.Complete(new Completion(() => throw new InvalidDataException("on purpose")));
            n.Complete(new Completion(() => other.TrySetResult()));
        });
        Assert.IsType<InvalidDataException>(await told.Task.WaitAsync(TestNode.Patience));
        await other.Task.WaitAsync(TestNode.Patience);
    }

    [Fact]
    public async Task A_resumed_completion_that_throws_is_told_and_does_not_end_the_process()
    {
        await using var node = new TestNode(SocketPortKind.Auto);
        var told = new TaskCompletionSource<Exception>();
        var other = new TaskCompletionSource();
        node.Loop.Faulted += error => told.TrySetResult(error);
        node.Node.Resume(new Completion(() => throw new InvalidDataException("on purpose")));
        Assert.IsType<InvalidDataException>(await told.Task.WaitAsync(TestNode.Patience));
        node.Node.Resume(new Completion(() => other.TrySetResult()));
        await other.Task.WaitAsync(TestNode.Patience);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_protocol_that_throws_stops_its_node_and_nothing_else(string port)
    {
        await using var other = new TestNode(Enum.Parse<SocketPortKind>(port));
        var told = new TaskCompletionSource<Exception>();
        await using var loop = NodeLoop.Start(Options(port));
        loop.Faulted += error => told.TrySetResult(error);
        int peer = await other.Open(loop.Local);
        await other.Saw(null, peer);
        Assert.True(loop.Node.TryPost(new Throwing()));
        await loop.Ended.WaitAsync(TestNode.Patience);
        Assert.IsType<InvalidDataException>(loop.Fault);
        Assert.Same(loop.Fault, await told.Task.WaitAsync(TestNode.Patience));
        Assert.False(loop.Node.TryPost(new Throwing()));
        var stopped = await Assert.ThrowsAsync<NodeFaultedException>(async () => await loop.Node.PostAsync(new Throwing(), TestContext.Current.CancellationToken));
        Assert.Same(loop.Fault, stopped.InnerException);
        await other.Saw(LinkFault.Reset, peer);
        await other.Saw(LinkFault.Refused, peer);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Stopping_sends_what_is_queued_and_abandons_waiting_commands(string port)
    {
        await using var receiver = new TestNode(Enum.Parse<SocketPortKind>(port));
        var sender = new TestNode(Enum.Parse<SocketPortKind>(port));
        int peer = await sender.Open(receiver.Address);
        await sender.Saw(null, peer);
        await sender.Do(node =>
        {
            for (uint i = 0; i < 200; i++) TestNode.Write(node, [peer], i, 10_000);
        });
        await sender.DisposeAsync();
        await receiver.Until(() => receiver.Got == 200, "queued frames were lost");
        var late = new Counter(1);
        Assert.False(sender.Node.TryPost(late));
    }

    [Fact]
    public async Task Callers_of_a_node_that_stops_all_hear_of_it()
    {
        for (int round = 0; round < 20; round++)
        {
            var loop = NodeLoop.Start(Options() with { CommandCapacity = 4 });
            var counter = new Counter(int.MaxValue);
            int posted = 0;
            var callers = Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
            {
                while (true)
                {
                    await loop.Node.PostAsync(counter, TestContext.Current.CancellationToken);
                    Interlocked.Increment(ref posted);
                }
            })).ToArray();
            await loop.StopAsync().WaitAsync(TestNode.Patience);
            foreach (var caller in callers) await Assert.ThrowsAsync<NodeStoppedException>(() => caller.WaitAsync(TestNode.Patience));
            Assert.Equal(posted, counter.Ran + counter.Abandoned);
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Stopping_leaves_no_thread_and_no_socket(string port)
    {
        if (!OperatingSystem.IsLinux()) return;
        int number;
        await using (var a = new TestNode(Enum.Parse<SocketPortKind>(port)))
        await using (var b = new TestNode(Enum.Parse<SocketPortKind>(port)))
        {
            number = EndPointText.Parse(b.Address.Text, "address").Port;
            await a.Open(b.Address);
            await a.Saw(null);
            Assert.NotEmpty(ThreadsOf(number));
            Assert.NotEmpty(SocketsOf(number));
        }
        var patience = DateTime.UtcNow + TestNode.Patience;
        while ((ThreadsOf(number).Count > 0 || SocketsOf(number).Count > 0) && DateTime.UtcNow < patience) await Task.Yield();
        Assert.Empty(ThreadsOf(number));
        Assert.Empty(SocketsOf(number));
        using var late = new TcpClient();
        await Assert.ThrowsAsync<SocketException>(() => late.ConnectAsync(IPAddress.Loopback, number));
    }

    private static List<string> ThreadsOf(int port)
    {
        List<string> found = [];
        foreach (string task in Directory.GetDirectories("/proc/self/task"))
        {
            try
            {
                if (File.ReadAllText($"{task}/comm").Trim() == $"node:{port}") found.Add(task);
            }
            catch (IOException)
            {
                // That thread has ended.
            }
        }
        return found;
    }

    // Sockets at the port that some process still holds; the kernel's remains of closed ones have no inode.
    private static List<string> SocketsOf(int port) =>
        [.. File.ReadAllLines("/proc/net/tcp").Skip(1).Select(line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            .Where(parts => parts[1].EndsWith($":{port:X4}", StringComparison.Ordinal) && parts[9] != "0").Select(parts => string.Join(' ', parts))];

    private sealed class Counter(int expected) : NodeCommand
    {
        private readonly TaskCompletionSource _all = new();
        private int _abandoned;

        public Task All => _all.Task;

        public int Ran { get; private set; }

        public int Abandoned => _abandoned;

        public override void Run()
        {
            if (++Ran == expected) _all.SetResult();
        }

        public override void Abandon(Exception reason) => Interlocked.Increment(ref _abandoned);
    }

    private sealed class Throwing : NodeCommand
    {
        public override void Run() => throw new InvalidDataException("on purpose");

        public override void Abandon(Exception reason)
        {
        }
    }

    private sealed class Completion(Action action) : ICompletion
    {
        public void Run() => action();
    }

    private sealed class Timers : ITimerTarget
    {
        public INode Node { get; set; } = null!;

        public long[] Due { get; } = new long[10];

        public List<long> Fired { get; } = [];

        public bool Early { get; private set; }

        public TaskCompletionSource Done { get; } = new();

        public void OnTimer(long token)
        {
            Early |= Node.Now < Due[token];
            Fired.Add(token);
            if (Fired.Count == 10) Done.SetResult();
        }
    }
}
