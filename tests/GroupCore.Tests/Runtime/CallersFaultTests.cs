using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;

namespace GroupCore.Tests.Runtime;

/// <summary>A turn that throws on a caller's thread ends the node by a fault, even while something else ends the node.</summary>
public sealed class CallersFaultTests
{
    [Fact]
    public async Task A_fault_on_a_callers_thread_is_told_though_the_node_is_being_stopped()
    {
        var patience = DateTime.UtcNow + TestNode.Patience;
        bool onCaller = false;
        while (!onCaller)
        {
            Assert.True(DateTime.UtcNow < patience, "no turn of a caller");
            var loop = NodeLoop.Start(new() { Cluster = "test", Spin = TimeSpan.Zero });
            int caller = Environment.CurrentManagedThreadId;
            var fault = new Fault(() =>
            {
                onCaller = Environment.CurrentManagedThreadId == caller;
                _ = loop.StopAsync();
            });
            Assert.True(loop.Node.TryPost(fault));
            await loop.Ended.WaitAsync(TestNode.Patience);
            if (onCaller) Assert.IsType<InvalidDataException>(loop.Fault);
            Assert.Same(loop.Fault, fault.Reason?.InnerException);
        }
    }

    private sealed class Fault(Action first) : NodeCommand
    {
        internal override bool AtOnce => true;

        public Exception? Reason { get; private set; }

        public override void Run()
        {
            first();
            throw new InvalidDataException("on purpose");
        }

        public override void Abandon(Exception reason) => Reason = reason;
    }
}
