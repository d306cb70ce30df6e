using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.InteropServices;
using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using Ida.Nodes;
using Ida.Process.Tests.Processes;

namespace Ida.Process.Tests.Nodes;

/// <summary>A process without a descriptor left. It is a child of the test: it lowers its own limit, and the other tests need theirs.</summary>
[Collection("processes, one test at a time")]
public sealed partial class DescriptorTests
{
    private const string PortVariable = "IDA_TEST_PORT";
    private const int OpenFiles = 7;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Theory, InlineData("Epoll"), InlineData("Completion")]
    public async Task A_node_without_descriptors_serves_on_and_takes_connections_again_when_there_are_some(string port)
    {
        if (!OperatingSystem.IsLinux()) return;
        var (exitCode, output, errors) = await SampleProcess.RunWithAsync($"{PortVariable}={port}", "Ida.Process.Tests",
            "--explicit", "only", "--filter-method", $"{typeof(DescriptorTests).FullName}.{nameof(In_this_process)}", "--no-progress", "--no-ansi");
        Assert.True(exitCode == 0, output + string.Join('\n', errors));
    }

    /// <summary>What the child does.</summary>
    [Fact(Explicit = true)]
    public async Task In_this_process()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var port = Enum.Parse<SocketPortKind>(Environment.GetEnvironmentVariable(PortVariable) ?? "Auto");
        await using var first = await StartAsync(port);
        await using var second = await StartAsync(port, first.Address.Text);
        var groups = new[] { await JoinAsync(first), await JoinAsync(second) };
        Assert.Equal("a", await AskAsync(groups[0], "a"));
        var at = IPEndPoint.Parse(first.Address.Text);
        var callers = Enumerable.Range(0, 20).Select(_ => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)).ToArray();
        LoadAssemblies();
        StartWorkers();
        await callers[0].ConnectAsync(at, cancellation);
        Assert.Equal("c", await AskAsync(groups[1], "c"));
        Assert.InRange(first.Counters.Refused(RefusalReason.Exhausted), 0, 0);
        var whole = Limit(new Limits { Soft = 3, Hard = 0 });
        long began = Stopwatch.GetTimestamp();
        try
        {
            foreach (var caller in callers[1..]) await caller.ConnectAsync(at, cancellation);
            while (first.Counters.Refused(RefusalReason.Exhausted) < 3)
            {
                Assert.True(Stopwatch.GetElapsedTime(began) < Patience, "The refusals are not counted.");
                Assert.Equal("b", await AskAsync(groups[0], "b"));
                Assert.Equal("c", await AskAsync(groups[1], "c"));
            }
            // A timer tries again, and not every turn.
            long tried = first.Counters.Refused(RefusalReason.Exhausted);
            Assert.InRange(tried, 3, 2 + (long)(Stopwatch.GetElapsedTime(began) / TimeSpan.FromMilliseconds(100)));
        }
        finally
        {
            Limit(whole);
        }
        await using var third = await StartAsync(port, first.Address.Text);
        await JoinAsync(third);
        foreach (var caller in callers) caller.Dispose();
    }

    [Theory, InlineData("Epoll"), InlineData("Completion")]
    public async Task Without_a_descriptor_the_most_silent_guest_gives_way_to_a_new_connection(string port)
    {
        if (!OperatingSystem.IsLinux()) return;
        var (exitCode, output, errors) = await SampleProcess.RunWithAsync($"{PortVariable}={port}", "Ida.Process.Tests",
            "--explicit", "only", "--filter-method", $"{typeof(DescriptorTests).FullName}.{nameof(With_guests_in_this_process)}", "--no-progress", "--no-ansi");
        Assert.True(exitCode == 0, output + string.Join('\n', errors));
    }

    /// <summary>What the child does.</summary>
    [Fact(Explicit = true)]
    public async Task With_guests_in_this_process()
    {
        var port = Enum.Parse<SocketPortKind>(Environment.GetEnvironmentVariable(PortVariable) ?? "Auto");
        await using var first = await StartAsync(port);
        var sockets = Enumerable.Range(0, 6).Select(_ => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = (int)Patience.TotalMilliseconds }).ToArray();
        LoadAssemblies();
        StartWorkers();
        for (int i = 0; i < 3; i++) Assert.Equal(HelloStatus.Accepted, Greet(sockets[i], first, (ulong)(100 + i)));
        var whole = Limit(new Limits { Soft = 3, Hard = 0 });
        try
        {
            // Descriptors that are given back have numbers above the limit, so all guests go until the limit is lifted.
            var come = Task.Run(() => Greet(sockets[3], first, 103));
            long began = Stopwatch.GetTimestamp();
            while (first.Counters.Refused(RefusalReason.Displaced) < 3) Assert.True(Stopwatch.GetElapsedTime(began) < Patience, "No guest gives way.");
            Limit(whole);
            Assert.Equal(HelloStatus.Accepted, await come.WaitAsync(Patience));
        }
        finally
        {
            Limit(whole);
        }
        foreach (var socket in sockets) socket.Dispose();
    }

    [Theory, InlineData("Epoll"), InlineData("Completion")]
    public async Task A_start_that_fails_for_want_of_descriptors_keeps_none(string port)
    {
        if (!OperatingSystem.IsLinux()) return;
        var (exitCode, output, errors) = await SampleProcess.RunWithAsync($"{PortVariable}={port}", "Ida.Process.Tests",
            "--explicit", "only", "--filter-method", $"{typeof(DescriptorTests).FullName}.{nameof(Failing_in_this_process)}", "--no-progress", "--no-ansi");
        Assert.True(exitCode == 0, output + string.Join('\n', errors));
    }

    /// <summary>What the child does.</summary>
    [Fact(Explicit = true)]
    public async Task Failing_in_this_process()
    {
        const int attempts = 10;
        var port = Enum.Parse<SocketPortKind>(Environment.GetEnvironmentVariable(PortVariable) ?? "Auto");
        var options = new NodeLoopOptions { Cluster = "d", Listen = "127.0.0.1:0", Port = port };
        LoadAssemblies();
        StartWorkers();
        await NodeLoop.Start(options).StopAsync();
        var failed = new List<Exception?>();
        int before = Open().Count;
        // A start needs two or four descriptors: each of them is the missing one in some attempts.
        int needed = port == SocketPortKind.Completion ? 2 : 4;
        for (int i = 0; i < attempts * needed; i++)
        {
            // Computed anew each time: a descriptor that one attempt has kept is not missing to the next.
            var whole = Limit(new Limits { Soft = NumbersWith(i % needed), Hard = 0 });
            failed.Add(Record.Exception(() => NodeLoop.Start(options)));
            Limit(whole);
        }
        Assert.All(failed, static error => Assert.True(error is IOException or SocketException, error?.ToString() ?? "started"));
        // The runtime may have opened one or two of its own.
        Assert.InRange(Open().Count - before, -attempts, attempts / 2);
    }

    // The limit under which so many descriptors are still free.
    private static ulong NumbersWith(int left)
    {
        var open = Open();
        int number = 0;
        for (; open.Contains(number) || left-- > 0; number++);
        return (ulong)number;
    }

    // One of them is open only for this look, and is gone again.
    private static HashSet<int> Open() =>
        [.. Directory.GetFiles("/proc/self/fd").Where(static path => new FileInfo(path).LinkTarget is not null).Select(static path => int.Parse(Path.GetFileName(path), CultureInfo.InvariantCulture))];

    private static HelloStatus Greet(Socket socket, IdaNode node, ulong id)
    {
        socket.Connect(IPEndPoint.Parse(node.Address.Text));
        socket.Send(new HelloFrame("d", HelloFrame.Version, HelloFrame.Version, false, id, node.Id.Node, id, 0, 0, "127.0.0.1:1").ToFrame());
        var answer = new byte[LinkLimits.HelloBytes];
        int got = 0;
        FrameHeader header;
        while (!FrameHeader.TryRead(answer.AsSpan(0, got), out header) || got < header.FrameLength) got += socket.Receive(answer.AsSpan(got));
        return HelloAckFrame.TryRead(answer.AsSpan(FrameHeader.Size, header.BodyLength), out var ack) ? ack.Status : HelloStatus.WrongVersion;
    }

    // An assembly that the runtime loads when it is first used needs a descriptor.
    private static void LoadAssemblies()
    {
        foreach (string path in ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator))
            Assembly.Load(new AssemblyName(Path.GetFileNameWithoutExtension(path)));
    }

    // Starting a thread needs a descriptor as well: a process whose pool wants another worker would be ended with "Out of memory.".
    private static void StartWorkers()
    {
        const int Workers = 32;
        ThreadPool.SetMinThreads(Workers, Workers);
        var running = new Barrier(Workers + 1);
        for (int i = 0; i < Workers; i++) ThreadPool.QueueUserWorkItem(static running => running.SignalAndWait(), running, preferLocal: false);
        Assert.True(running.SignalAndWait(Patience));
    }

    private static Task<IdaNode> StartAsync(SocketPortKind port, params string[] seeds)
    {
        var options = new IdaNodeOptions { Cluster = "d", Seeds = seeds };
        return IdaNode.HostAsync(options, new LoopLifeHost(options, port), TestContext.Current.CancellationToken).AsTask();
    }

    private static async Task<Group> JoinAsync(IdaNode node) =>
        await node.JoinAsync("g", static g => g.OnQuery<string, string>("ask", static (_, text) => text), cancellationToken: TestContext.Current.CancellationToken).AsTask().WaitAsync(Patience);

    // Asks the other member.
    private static async Task<string> AskAsync(Group group, string text)
    {
        var view = group.CurrentView;
        Assert.Equal(2, view.Members.Count);
        return await group.QueryToAsync<string, string>(1 - group.Rank, "ask", text, cancellationToken: TestContext.Current.CancellationToken).AsTask().WaitAsync(Patience);
    }

    // Sets the soft limit and keeps the hard one; returns the limits before.
    private static unsafe Limits Limit(Limits to)
    {
        Limits was;
        Assert.Equal(0, getrlimit(OpenFiles, &was));
        to.Hard = was.Hard;
        Assert.Equal(0, setrlimit(OpenFiles, &to));
        return was;
    }

    [LibraryImport("libc")]
    private static unsafe partial int getrlimit(int resource, Limits* limits);

    [LibraryImport("libc")]
    private static unsafe partial int setrlimit(int resource, Limits* limits);

    private struct Limits
    {
        public ulong Soft;
        public ulong Hard;
    }
}
