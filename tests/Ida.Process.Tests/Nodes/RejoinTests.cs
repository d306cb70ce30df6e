using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Nodes;

namespace Ida.Process.Tests.Nodes;

/// <summary>Lives that are lost while the node rejoins: one life follows, and the node goes on.</summary>
public sealed class RejoinTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task R_a_life_that_is_lost_while_its_callback_runs_is_followed_by_the_next()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var served = Channel.CreateUnbounded<Group>();
        int calls = 0;
        await using var node = await IdaNode.StartAsync(new()
        {
            Cluster = "r",
            OnFault = ExclusionPolicy.Rejoin,
            OnRejoined = async (node, _) =>
            {
                var group = await node.JoinAsync("g", cancellationToken: cancellation);
                if (calls++ == 0)
                {
                    FaultWorld.Throw(group.Protocol.Node, TurnFault.Command);
                    await group.Completion;
                }
                await served.Writer.WriteAsync(group, cancellation);
            },
        }, cancellation);
        FaultWorld.Throw((await node.JoinAsync("g", cancellationToken: cancellation)).Protocol.Node, TurnFault.Command);
        var group = await served.Reader.ReadAsync(cancellation).AsTask().WaitAsync(Bound, cancellation);
        await group.FlushAsync(cancellation).AsTask().WaitAsync(Bound, cancellation);
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        await node.Completion;
        Assert.Equal(2, calls);
    }

    [Fact]
    public async Task R_a_fault_before_the_next_life_is_registered_is_followed_by_another_life()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var served = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new IdaNodeOptions
        {
            Cluster = "r",
            OnFault = ExclusionPolicy.Rejoin,
            OnRejoined = (_, _) =>
            {
                served.SetResult();
                return Task.CompletedTask;
            },
        };
        var host = new Host(new LoopLifeHost(options)) { FaultyLife = 2 };
        await using var node = await IdaNode.HostAsync(options, host, cancellation);
        FaultWorld.Throw((await node.JoinAsync("g", cancellationToken: cancellation)).Protocol.Node, TurnFault.Command);
        await served.Task.WaitAsync(Bound, cancellation);
        Assert.Equal(3, host.Begun);
        Assert.Equal(MembershipState.Active, node.State);
    }

    [Theory, InlineData(ExclusionPolicy.Stop), InlineData(ExclusionPolicy.Rejoin)]
    public async Task R_a_fault_at_the_end_of_an_excluded_life_is_no_second_end(ExclusionPolicy onFault)
    {
        var cancellation = TestContext.Current.CancellationToken;
        var founding = new IdaNodeOptions { Cluster = "r" };
        var founder = new LoopLifeHost(founding);
        await using var first = await IdaNode.HostAsync(founding, founder, cancellation);
        string own = Free();
        var served = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new IdaNodeOptions
        {
            Cluster = "r",
            Seeds = [first.Address.Text, own],
            Listen = own,
            Membership = new()
            {
                LeaseDuration = TimeSpan.FromMilliseconds(200), IsolationTimeout = TimeSpan.FromMilliseconds(500), ExclusionTimeout = TimeSpan.FromMilliseconds(500),
            },
            OnExcluded = ExclusionPolicy.Rejoin,
            OnFault = onFault,
            OnRejoined = async (node, _) =>
            {
                await node.JoinAsync("g", cancellationToken: cancellation);
                served.SetResult();
            },
        };
        var host = new Host(new LoopLifeHost(options)) { FaultAtEnd = true };
        await using var node = await IdaNode.HostAsync(options, host, cancellation);
        // The only voter ends without a word, so nothing is decided any more and the node gives up its membership.
        await founder.EndAsync();
        if (onFault == ExclusionPolicy.Stop)
        {
            // The fault is told, and no life follows.
            await Assert.ThrowsAsync<NodeFaultedException>(() => node.Completion.WaitAsync(Bound, cancellation));
            Assert.Equal(1, host.Begun);
            return;
        }
        await served.Task.WaitAsync(Bound, cancellation);
        Assert.Equal(2, host.Begun);
        Assert.Equal(MembershipState.Active, node.State);
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        await node.Completion;
    }

    private static string Free()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return listener.LocalEndpoint.ToString()!;
    }

    /// <summary>Lives that fault when they begin, or when they are to end.</summary>
    private sealed class Host(LoopLifeHost inner) : ILifeHost
    {
        private INode _node = null!;
        private Stop _stop = null!;

        public int Begun { get; private set; }

        public int FaultyLife { get; init; }

        public bool FaultAtEnd { get; set; }

        public NodeFaultedException? Fault => inner.Fault;

        public ValueTask<TimeSpan> PrepareAsync(CancellationToken cancellationToken) => inner.PrepareAsync(cancellationToken);

        public INode Begin(Action<INode> attach) => _node = inner.Begin(node =>
        {
            attach(node);
            node.AtStop(_stop = new());
            if (++Begun == FaultyLife) FaultWorld.Throw(node, TurnFault.Command);
        });

        public Oracle.OracleOptions MembershipOptions(IdaNodeOptions options) => inner.MembershipOptions(options);

        public async ValueTask EndAsync()
        {
            if (FaultAtEnd)
            {
                FaultAtEnd = false;
                FaultWorld.Throw(_node, TurnFault.Command);
                await _stop.Reason;
            }
            await inner.EndAsync();
        }
    }

    private sealed class Stop : IStopListener
    {
        private readonly TaskCompletionSource<Exception> _reason = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Reason => _reason.Task;

        public void OnStop(Exception reason) => _reason.SetResult(reason);
    }
}
