using System.Diagnostics.Metrics;
using System.Net;
using System.Net.Sockets;
using GroupCore.Groups;
using Ida.Nodes;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>What the meters of a process say about its nodes, while these live.</summary>
public sealed class MeterTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Instruments_have_units_and_tags_and_tell_what_the_node_knows()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var first = await IdaNode.StartAsync(new() { Cluster = "meters" }, cancellation);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "meters", Seeds = [first.Address.Text], Listen = "127.0.0.1:0" }, cancellation);
        var groups = new[] { await JoinAsync(first), await JoinAsync(second) };
        var dhts = await Task.WhenAll(groups.Select(group => group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 2 }, static maps => maps.Map<string, int>("m"), cancellation).AsTask())).WaitAsync(Bound, cancellation);
        for (int i = 0; i < 100; i++) await dhts[0].Map<string, int>("m").PutAsync($"key {i}", i, cancellationToken: cancellation);
        var measured = Measure();
        Assert.Equal(2, measured.ValueOf("ida.group.members", first, "g"));
        Assert.Equal(2, measured.ValueOf("ida.group.members", second, "g"));
        Assert.Equal(1, measured.ValueOf("ida.oracle.active", first));
        Assert.Equal(1, measured.ValueOf("ida.oracle.leads", first) + measured.ValueOf("ida.oracle.leads", second));
        Assert.True(measured.ValueOf("ida.node.turns", first) > 0);
        Assert.True(measured.ValueOf("ida.links", first) > 0);
        Assert.Equal(100, measured.ValueOf("ida.dht.entries", first, "g") + measured.ValueOf("ida.dht.entries", second, "g"));
        Assert.Equal(dhts[0].Counters.FastPaths, measured.ValueOf("ida.dht.fast", first, "g"));
        Assert.Equal(1, measured.ValueOf("ida.dht.initialised", first, "g"));
        Assert.Equal(0, measured.ValueOf("ida.node.refused", first, reason: "Malformed"));
        Assert.All(measured.Instruments, static instrument =>
        {
            Assert.False(string.IsNullOrEmpty(instrument.Unit) || string.IsNullOrEmpty(instrument.Description), instrument.Name);
            Assert.StartsWith("ida.", instrument.Name, StringComparison.Ordinal);
        });
        Assert.Equal(["Ida", "Ida.GroupCore", "Ida.Oracle"], measured.Instruments.Select(static instrument => instrument.Meter.Name).Distinct().Order(StringComparer.Ordinal));
        Assert.Equal("ns", measured.Instruments.Single(static instrument => instrument.Name == "ida.oracle.loop.late").Unit);
        Assert.Equal("By", measured.Instruments.Single(static instrument => instrument.Name == "ida.links.unacknowledged").Unit);

        ValueTask<Group> JoinAsync(IdaNode node) => node.JoinAsync("g", cancellationToken: cancellation);
    }

    [Fact]
    public async Task A_group_that_was_left_and_a_node_that_has_stopped_are_measured_no_more()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var node = await IdaNode.StartAsync(new() { Cluster = "meters" }, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation);
        await node.JoinAsync("h", cancellationToken: cancellation);
        Assert.NotNull(Measure().ValueOf("ida.group.view", node, "g"));
        await group.LeaveAsync(cancellation);
        // The group goes out of the meters at the end of the turn, for which this call waits.
        await node.DescribeAsync(cancellation);
        var measured = Measure();
        Assert.Null(measured.ValueOf("ida.group.view", node, "g"));
        Assert.NotNull(measured.ValueOf("ida.group.view", node, "h"));
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        measured = Measure();
        Assert.Null(measured.ValueOf("ida.group.view", node, "h"));
        Assert.Null(measured.ValueOf("ida.node.turns", node));
    }

    [Fact]
    public async Task A_life_that_faulted_is_measured_no_more_and_the_next_one_is()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var rejoined = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var node = await IdaNode.StartAsync(new()
        {
            Cluster = "meters",
            OnFault = ExclusionPolicy.Rejoin,
            OnRejoined = (_, _) =>
            {
                rejoined.TrySetResult();
                return Task.CompletedTask;
            },
        }, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation);
        FaultWorld.Throw(group.Protocol.Node, TurnFault.Command);
        await rejoined.Task.WaitAsync(Bound, cancellation);
        var measured = Measure();
        Assert.Null(measured.ValueOf("ida.group.view", node, "g"));
        Assert.NotNull(measured.ValueOf("ida.node.turns", node));
    }

    /// <summary>Listeners are user code. They are called where somebody measures, and never by the node.</summary>
    [Fact]
    public async Task What_a_listener_throws_is_told_to_the_caller_that_measures_and_the_node_goes_on()
    {
        var cancellation = TestContext.Current.CancellationToken;
        await using var node = await IdaNode.StartAsync(new() { Cluster = "meters" }, cancellation);
        using var listener = new MeterListener();
        listener.InstrumentPublished = static (instrument, listening) =>
        {
            if (instrument.Meter.Name == NodeMeters.GroupCoreName) listening.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>(static (_, _, _, _) => throw new InvalidOperationException("on purpose"));
        listener.Start();
        Assert.ThrowsAny<Exception>(listener.RecordObservableInstruments);
        var group = await node.JoinAsync("g", static g => g.Handle<string>("say", static (_, _) => { }), cancellationToken: cancellation);
        await group.OrderedSendAsync("say", "hello", cancellation).AsTask().WaitAsync(Bound, cancellation);
        Assert.ThrowsAny<Exception>(listener.RecordObservableInstruments);
        Assert.Equal(1, Measure().ValueOf("ida.group.members", node, "g"));
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
    }

    /// <summary>Nothing in the meters leads to a node that is gone.</summary>
    [Fact]
    public async Task Nodes_leave_nothing_behind()
    {
        var cancellation = TestContext.Current.CancellationToken;
        for (int i = 0; i < 3; i++)
        {
            await using var node = await IdaNode.StartAsync(new() { Cluster = "meters" }, cancellation);
            string address = node.Address.Text;
            Assert.Contains(address, Measure().Nodes);
            await node.DisposeAsync();
            Assert.DoesNotContain(address, Measure().Nodes);
        }
        string own = FreePort.Address();
        // Nobody else can listen where this socket is bound.
        using var nobody = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        nobody.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        await Assert.ThrowsAsync<ClusterUnreachableException>(async () => await IdaNode.StartAsync(
            new() { Cluster = "meters", Seeds = [nobody.LocalEndPoint!.ToString()!], Listen = own, StartTimeout = TimeSpan.FromMilliseconds(200) }, cancellation));
        Assert.DoesNotContain(own, Measure().Nodes);
    }

    private static Measured Measure()
    {
        var measured = new Measured();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, listening) =>
        {
            if (instrument.Meter.Name is not (NodeMeters.IdaName or NodeMeters.GroupCoreName or NodeMeters.OracleName)) return;
            measured.Instruments.Add(instrument);
            listening.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => measured.Add(instrument.Name, value, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        return measured;
    }

    private sealed class Measured
    {
        private readonly Dictionary<(string Name, string Node, string Group, string Reason), long> _values = [];

        public List<Instrument> Instruments { get; } = [];

        public IEnumerable<string> Nodes => _values.Keys.Select(static key => key.Node).Distinct();

        public long? ValueOf(string name, IdaNode node, string group = "", string reason = "") =>
            _values.TryGetValue((name, node.Address.Text, group, reason), out long value) ? value : null;

        public void Add(string name, long value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            string node = "", group = "", reason = "";
            foreach (var (key, tag) in tags)
            {
                if (key == "node") node = (string)tag!;
                else if (key == "group") group = (string)tag!;
                else if (key == "reason") reason = (string)tag!;
                else Assert.Fail($"Tag {key}");
            }
            _values.Add((name, node, group, reason), value);
        }
    }
}
