using GroupCore.Runtime;
using Ida.Nodes;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>A node that is stopped while it rejoins.</summary>
public sealed class RejoinStopTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task R5_no_life_begins_after_the_stop()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var options = new IdaNodeOptions { Cluster = "r", OnFault = ExclusionPolicy.Rejoin };
        var host = new HeldHost(new LoopLifeHost(options));
        var node = await IdaNode.HostAsync(options, host, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation);
        FaultWorld.Throw(group.Protocol.Node, TurnFault.Command);
        await host.Rejoining.WaitAsync(Bound, cancellation);
        var disposed = node.DisposeAsync().AsTask();
        await host.Stopping.WaitAsync(Bound, cancellation);
        // The rejoin goes on within this call, while the stop is under way.
        await Task.Run(host.Rejoin, cancellation);
        int begun = host.Begun;
        host.Stop();
        await disposed.WaitAsync(Bound, cancellation);
        await host.EndAsync();
        Assert.Equal(1, begun);
    }

    /// <summary>The log was told that a new life follows. Its last word is what came instead.</summary>
    [Fact]
    public async Task A_node_that_is_stopped_before_its_new_life_begins_says_that_it_has_stopped()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var log = new LogCollector();
        var options = new IdaNodeOptions { Cluster = "r", OnFault = ExclusionPolicy.Rejoin, LoggerFactory = log };
        var host = new HeldHost(new LoopLifeHost(options));
        var node = await IdaNode.HostAsync(options, host, cancellation);
        var life = (await node.JoinAsync("g", cancellationToken: cancellation)).Protocol.Node;
        FaultWorld.Throw(life, TurnFault.Command);
        await host.Rejoining.WaitAsync(Bound, cancellation);
        var disposed = node.DisposeAsync().AsTask();
        await host.Stopping.WaitAsync(Bound, cancellation);
        host.Stop();
        await disposed.WaitAsync(Bound, cancellation);
        host.Rejoin();
        var told = await log.ToldAsync(life).WaitAsync(Bound, cancellation);
        Assert.Equal(["NodeFaulted", "NodeLost", "NodeStopped"], told.Select(static entry => entry.Name).Where(static name => name is "NodeFaulted" or "NodeLost" or "NodeStopped" or "RejoinFailed"));
        Assert.Contains("a new life", told.Single(static entry => entry.Name == "NodeLost").Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task R12_a_callback_that_throws_at_the_stop_does_not_keep_the_node()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var rejoined = new TaskCompletionSource();
        var options = new IdaNodeOptions
        {
            Cluster = "r",
            OnFault = ExclusionPolicy.Rejoin,
            OnRejoined = (_, token) =>
            {
                token.Register(static () => throw new InvalidDataException("on purpose"));
                rejoined.SetResult();
                return Task.CompletedTask;
            },
        };
        var node = await IdaNode.StartAsync(options, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation);
        FaultWorld.Throw(group.Protocol.Node, TurnFault.Command);
        await rejoined.Task.WaitAsync(Bound, cancellation);
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        await node.Completion.WaitAsync(Bound, cancellation);
    }

    /// <summary>Both its first end, of the life before the rejoin, and its second, of the stop, last until they are released.</summary>
    private sealed class HeldHost(LoopLifeHost inner) : ILifeHost
    {
        private readonly TaskCompletionSource[] _ending = [new(TaskCreationOptions.RunContinuationsAsynchronously), new(TaskCreationOptions.RunContinuationsAsynchronously)];
        private readonly TaskCompletionSource[] _released = [new(), new()];
        private int _ends;

        public int Begun { get; private set; }

        public Task Rejoining => _ending[0].Task;

        public Task Stopping => _ending[1].Task;

        public void Rejoin() => _released[0].SetResult();

        public void Stop() => _released[1].SetResult();

        public ValueTask<TimeSpan> PrepareAsync(CancellationToken cancellationToken) => inner.PrepareAsync(cancellationToken);

        public INode Begin(Action<INode> attach)
        {
            Begun++;
            return inner.Begin(attach);
        }

        public Oracle.OracleOptions MembershipOptions(IdaNodeOptions options) => inner.MembershipOptions(options);

        public async ValueTask EndAsync()
        {
            int end = Interlocked.Increment(ref _ends) - 1;
            await inner.EndAsync().ConfigureAwait(false);
            if (end >= _ending.Length) return;
            _ending[end].SetResult();
            await _released[end].Task.ConfigureAwait(false);
        }
    }
}
