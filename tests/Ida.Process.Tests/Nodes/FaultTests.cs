using System.Net.Sockets;
using GroupCore.Groups;
using GroupCore.Hosting;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Nodes;
using Ida.Testing;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>A turn throws: the node ends loudly and completely, its process and the other nodes go on.</summary>
public sealed class FaultTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    public static TheoryData<string, TurnFault> Faults => new(
        from port in OperatingSystem.IsLinux() ? new[] { "Epoll", "Completion" } : ["Completion"]
        from fault in Enum.GetValues<TurnFault>()
        select (port, fault));

    [Theory, MemberData(nameof(Faults))]
    public async Task F2_a_fault_in_a_turn_ends_every_call_that_waits_with_its_cause(string port, TurnFault fault)
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var world = await FaultWorld.StartAsync(Enum.Parse<SocketPortKind>(port));
        var (waiting, passing) = world.Fill();
        int listening = EndPointText.Parse(world.Node.Address.Text, "address").Port;
        world.Throw(fault);
        foreach (var (name, task) in waiting)
        {
            var error = await EndOf(task);
            Assert.True(error is NodeFaultedException { InnerException: InvalidDataException }, $"{name}: {error?.ToString() ?? "ended well"}");
        }
        foreach (var kind in passing)
        {
            var ends = new List<Exception?>();
            foreach (var send in kind) ends.Add(await EndOf(send));
            Assert.All(ends, error => Assert.True(error is null or NodeFaultedException { InnerException: InvalidDataException }, $"{kind.Key}: {error}"));
            Assert.True(ends.Exists(static error => error is not null), $"No {kind.Key} had to wait.");
        }
        await AssertFaulted(world.Node.Completion);
        await AssertFaulted(world.Group.Completion);
        await AssertFaulted(world.Dht.Completion);
        Assert.Equal(MembershipState.Faulted, world.Node.State);
        using var client = new TcpClient();
        await Assert.ThrowsAnyAsync<SocketException>(async () => await client.ConnectAsync("127.0.0.1", listening, cancellation));
        // Later calls say the same.
        await AssertFaulted(() => world.Group.SendAsync("say", "late", cancellation));
        await AssertFaulted(() => world.Group.OrderedSendAsync("say", "late", cancellation));
        await AssertFaulted(() => world.Group.FlushAsync(cancellation));
        await AssertFaulted(world.Dht.Map<string, string>("m").GetAsync("key", cancellationToken: cancellation).AsTask());
        await AssertFaulted(world.Dht.StatusAsync(cancellation));
        await AssertFaulted(world.Dht.SnapshotAsync(cancellation));
        await AssertFaulted(world.Node.JoinAsync("late", cancellationToken: cancellation).AsTask());
        await world.Node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
    }

    [Fact]
    public async Task F2_the_others_notice_by_the_closed_sockets_and_go_on()
    {
        // The node that founded the system and leads it faults: the other two are a majority of the voters.
        await using var world = await FaultWorld.StartAsync(SocketPortKind.Auto);
        world.Throw(TurnFault.Command);
        await world.WithoutTheFaultedNode().WaitAsync(Bound, TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task F2_under_Rejoin_a_new_life_begins_after_a_fault_and_not_for_ever()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var lives = System.Threading.Channels.Channel.CreateUnbounded<ProcessId>();
        var options = new IdaNodeOptions
        {
            Cluster = "f",
            OnFault = ExclusionPolicy.Rejoin,
            OnRejoined = (node, _) => lives.Writer.WriteAsync(node.Id, cancellation).AsTask(),
        };
        await using var founder = await IdaNode.StartAsync(new() { Cluster = "f" }, cancellation);
        // So that a majority is left each time.
        await using var second = await IdaNode.StartAsync(new() { Cluster = "f", Seeds = [founder.Address.Text] }, cancellation);
        await using var third = await IdaNode.StartAsync(new() { Cluster = "f", Seeds = [founder.Address.Text] }, cancellation);
        await using var node = await IdaNode.HostAsync(options with { Seeds = [founder.Address.Text] }, new LoopLifeHost(options with { Seeds = [founder.Address.Text] }), cancellation);
        var (address, first) = (node.Address, node.Id);
        for (int life = 0; life < 2; life++)
        {
            var group = await node.JoinAsync($"g{life}", cancellationToken: cancellation);
            FaultWorld.Throw(group.Protocol.Node, TurnFault.Command);
            var next = await lives.Reader.ReadAsync(cancellation).AsTask().WaitAsync(Bound, cancellation);
            Assert.NotEqual(first, next);
            Assert.Equal(MembershipState.Active, node.State);
            Assert.Equal(address, node.Address);
        }
        FaultWorld.Throw((await node.JoinAsync("last", cancellationToken: cancellation)).Protocol.Node, TurnFault.Command);
        await AssertFaulted(node.Completion);
        Assert.Equal(MembershipState.Faulted, node.State);
    }

    [Fact]
    public async Task F2_a_fault_before_the_node_is_registered_ends_its_start()
    {
        var options = new IdaNodeOptions { Cluster = "f", Seeds = ["127.0.0.1:1"] };
        var host = new FaultyHost(new LoopLifeHost(options));
        await AssertFaulted(IdaNode.HostAsync(options, host, TestContext.Current.CancellationToken).AsTask());
    }

    /// <summary>The fault comes while the node is being stopped: in a step of its end, or in the handling of events beside it.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_fault_on_the_way_out_is_told(bool beside)
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector();
        await using var node = await IdaNode.StartAsync(new() { Cluster = "f", LoggerFactory = log }, cancellation);
        var inner = (await node.JoinAsync("g", cancellationToken: cancellation)).Protocol.Node;
        var stopped = new TaskCompletionSource<Exception>();
        inner.Post(new ActionCommand(() => inner.AtStop(new StopListener(reason =>
        {
            stopped.SetResult(reason);
            var fault = new InvalidDataException("on purpose");
            if (!beside) throw fault;
            inner.Fail(fault);
        }))));
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        Assert.IsType<NodeStoppedException>(await stopped.Task.WaitAsync(Bound, cancellation));
        var told = await Assert.ThrowsAsync<NodeFaultedException>(() => node.Completion.WaitAsync(Bound, cancellation));
        Assert.IsType<InvalidDataException>(Assert.Single(Assert.IsType<AggregateException>(told.InnerException).InnerExceptions));
        await AssertEndAsync(log, inner, told.InnerException, "NodeFaulted", "NodeLost");
    }

    /// <summary>The fault takes the place of the exclusion. Since OnFault is Stop, no life follows, whatever OnExcluded says.</summary>
    [Theory]
    [InlineData(ExclusionPolicy.Stop)]
    [InlineData(ExclusionPolicy.Rejoin)]
    public async Task A_fault_on_the_way_out_of_an_excluded_node_is_told(ExclusionPolicy onExcluded)
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector();
        var founding = new IdaNodeOptions { Cluster = "f" };
        var founder = new LoopLifeHost(founding);
        await using var first = await IdaNode.HostAsync(founding, founder, cancellation);
        await using var node = await IdaNode.StartAsync(new()
        {
            Cluster = "f",
            Seeds = [first.Address.Text],
            Membership = new() { LeaseDuration = TimeSpan.FromMilliseconds(200), IsolationTimeout = TimeSpan.FromMilliseconds(500), ExclusionTimeout = TimeSpan.FromMilliseconds(500) },
            OnExcluded = onExcluded,
            LoggerFactory = log,
        }, cancellation);
        var id = node.Id;
        var inner = (await node.JoinAsync("g", cancellationToken: cancellation)).Protocol.Node;
        var stopped = new TaskCompletionSource<Exception>();
        inner.Post(new ActionCommand(() => inner.AtStop(new StopListener(reason =>
        {
            stopped.SetResult(reason);
            inner.Fail(new InvalidDataException("on purpose"));
        }))));
        // The only voter ends without a word, so nothing is decided any more and the node gives up its membership.
        await founder.EndAsync();
        Assert.IsType<NodeStoppedException>(await stopped.Task.WaitAsync(Bound, cancellation));
        var told = await Assert.ThrowsAsync<NodeFaultedException>(() => node.Completion.WaitAsync(Bound, cancellation));
        Assert.IsType<InvalidDataException>(Assert.Single(Assert.IsType<AggregateException>(told.InnerException).InnerExceptions));
        Assert.Equal(id, node.Id);
        await AssertEndAsync(log, inner, told.InnerException, onExcluded == ExclusionPolicy.Stop ? ["NodeLost", "NodeFaulted"] : ["NodeLost", "NodeFaulted", "RejoinFailed"]);
    }

    /// <summary>The reason of its end is logged once for each life, also where no other life can begin.</summary>
    [Fact]
    public async Task A_node_that_cannot_begin_a_new_life_says_so_and_stops()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector();
        var options = new IdaNodeOptions { Cluster = "f", OnFault = ExclusionPolicy.Rejoin, LoggerFactory = log };
        await using var node = await IdaNode.HostAsync(options, new OneLifeHost(new(options)), cancellation);
        var inner = (await node.JoinAsync("g", cancellationToken: cancellation)).Protocol.Node;
        FaultWorld.Throw(inner, TurnFault.Command);
        await Assert.ThrowsAsync<AddressInUseException>(() => node.Completion.WaitAsync(Bound, cancellation));
        await AssertEndAsync(log, inner, null, "NodeFaulted", "NodeLost", "RejoinFailed");
        var failed = log.Entries.Single(static entry => entry.Name == "RejoinFailed");
        Assert.IsType<AddressInUseException>(failed.Exception);
    }

    [Fact]
    public async Task D3_a_fault_whose_message_throws_is_told_as_well()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "f" }, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation);
        FaultWorld.Throw(group.Protocol.Node, new Unspeakable());
        var error = await Assert.ThrowsAsync<NodeFaultedException>(() => group.Completion.WaitAsync(Bound, cancellation));
        Assert.IsType<Unspeakable>(error.InnerException);
        await Assert.ThrowsAsync<NodeFaultedException>(() => node.Completion.WaitAsync(Bound, cancellation));
    }

    [Fact]
    public async Task D3_a_handler_whose_exception_has_no_message_costs_its_query_only()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "f" }, cancellation);
        var group = await node.JoinAsync("g", g => g.OnQuery<string, string>("ask", static (_, text) => text.Length > 0 ? text : throw new Unspeakable()), cancellationToken: cancellation);
        await Assert.ThrowsAsync<QueryAbortedException>(() => group.QueryAsync<string, string>("ask", "", cancellationToken: cancellation).AsTask().WaitAsync(Bound, cancellation));
        Assert.Single(await group.QueryAsync<string, string>("ask", "still there", cancellationToken: cancellation).AsTask().WaitAsync(Bound, cancellation));
    }

    /// <summary>What a node logs about its end, in that order and each line once; with the fault itself, if one came on the way out.</summary>
    private static async Task AssertEndAsync(LogCollector log, INode node, Exception? fault, params string[] names)
    {
        var told = await log.ToldAsync(node).WaitAsync(Bound, TestContext.Current.CancellationToken);
        Assert.Equal(names, told.Select(static entry => entry.Name).Where(static name => name is "NodeFaulted" or "NodeLost" or "NodeStopped" or "RejoinFailed"));
        if (fault is not null) Assert.Same(fault, told.Single(static entry => entry.Name == "NodeFaulted").Exception);
    }

    private static async Task<Exception?> EndOf(Task call)
    {
        var error = await Record.ExceptionAsync(() => call.WaitAsync(Bound, TestContext.Current.CancellationToken));
        return error is OutcomeUnknownException unknown ? unknown.InnerException : error;
    }

    private static Task AssertFaulted(Task task) => AssertFaulted(() => new(task));

    private static async Task AssertFaulted(Func<ValueTask> call)
    {
        var error = await Assert.ThrowsAsync<NodeFaultedException>(() => call().AsTask().WaitAsync(Bound, TestContext.Current.CancellationToken));
        Assert.IsType<InvalidDataException>(error.InnerException);
    }

    private sealed class Unspeakable : Exception
    {
        public override string Message => throw new InvalidOperationException("not even this");
    }

    private sealed class StopListener(Action<Exception> stop) : IStopListener
    {
        public void OnStop(Exception reason) => stop(reason);
    }

    /// <summary>When the first life has ended, another process takes the address.</summary>
    private sealed class OneLifeHost(LoopLifeHost inner) : ILifeHost
    {
        private bool _begun;

        public ValueTask<TimeSpan> PrepareAsync(CancellationToken cancellationToken) => inner.PrepareAsync(cancellationToken);

        public INode Begin(Action<INode> attach)
        {
            if (_begun) throw new AddressInUseException("It is taken.");
            _begun = true;
            return inner.Begin(attach);
        }

        public Oracle.OracleOptions MembershipOptions(IdaNodeOptions options) => inner.MembershipOptions(options);

        public ValueTask EndAsync() => inner.EndAsync();
    }

    /// <summary>A life whose first turn throws.</summary>
    private sealed class FaultyHost(LoopLifeHost inner) : ILifeHost
    {
        public ValueTask<TimeSpan> PrepareAsync(CancellationToken cancellationToken) => inner.PrepareAsync(cancellationToken);

        public INode Begin(Action<INode> attach)
        {
            var node = inner.Begin(attach);
            FaultWorld.Throw(node, TurnFault.Command);
            return node;
        }

        public Oracle.OracleOptions MembershipOptions(IdaNodeOptions options) => inner.MembershipOptions(options);

        public ValueTask EndAsync() => inner.EndAsync();
    }
}
