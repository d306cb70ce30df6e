using GroupCore.Groups.Dispatch;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>What throws beside users' code, where a group's events are handled, would leave the group with handlers that are never called again: it ends the node.</summary>
public sealed class DispatcherFaultTests
{
    /// <summary>At once, in a wait of the handler's, or on the loop where handlers are inline.</summary>
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

    private sealed class Target(bool later) : IEventTarget
    {
        public int Handled { get; private set; }

        public ExecutionContext Context { get; } = ExecutionContext.Capture()!;

        public Exception? Skipped => null;

        public object? Enter() => null;

        public void Exit(object? outer)
        {
        }

        public ValueTask Handle(ref GroupEvent entry)
        {
            Handled++;
            return later ? LaterAsync() : throw new InvalidDataException("on purpose");
        }

        public bool OnHandled(long events) => false;

        public void OnDropped(in GroupEvent entry)
        {
        }

        public void OnProgress()
        {
        }

        private static async ValueTask LaterAsync()
        {
            await Task.Yield();
            throw new InvalidDataException("on purpose");
        }
    }
}
