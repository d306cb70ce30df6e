using GroupCore.Runtime;
using Ida.Nodes;

namespace Ida.Process.Tests.Nodes;

/// <summary>A node that is stopped while it rejoins.</summary>
public sealed class RejoinStopTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task R5_no_life_begins_after_the_stop()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var options = new IdaNodeOptions { Cluster = "r", OnFault = PoisonPolicy.Rejoin };
        var host = new HeldHost(new LoopLifeHost(options));
        var node = await IdaNode.HostAsync(options, host, cancellation);
        var group = await node.JoinAsync("g", cancellationToken: cancellation);
        FaultWorld.Throw(group.Protocol.Node, TurnFault.Command);
        await host.Ending.WaitAsync(Bound, cancellation);
        await node.DisposeAsync().AsTask().WaitAsync(Bound, cancellation);
        // The rejoin goes on inside of the call.
        await Task.Run(host.Release, cancellation);
        int begun = host.Begun;
        await host.EndAsync();
        Assert.Equal(1, begun);
    }

    [Fact]
    public async Task R12_a_callback_that_throws_at_the_stop_does_not_keep_the_node()
    {
        var cancellation = TestContext.Current.CancellationToken;
        var rejoined = new TaskCompletionSource();
        var options = new IdaNodeOptions
        {
            Cluster = "r",
            OnFault = PoisonPolicy.Rejoin,
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

    /// <summary>Its first end takes until it is released.</summary>
    private sealed class HeldHost(LoopLifeHost inner) : ILifeHost
    {
        private readonly TaskCompletionSource _ending = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _released = new();
        private int _ends;

        public int Begun { get; private set; }

        public Task Ending => _ending.Task;

        public void Release() => _released.SetResult();

        public INode Begin(Action<INode> attach)
        {
            Begun++;
            return inner.Begin(attach);
        }

        public Oracle.OracleOptions MembershipOptions(IdaNodeOptions options) => inner.MembershipOptions(options);

        public async ValueTask EndAsync()
        {
            bool held = Interlocked.Increment(ref _ends) == 1;
            await inner.EndAsync().ConfigureAwait(false);
            if (!held) return;
            _ending.SetResult();
            await _released.Task.ConfigureAwait(false);
        }
    }
}
