using GroupCore.Groups.Calls;
using GroupCore.Groups.PointToPoint;

namespace GroupCore.Tests.Groups;

/// <summary>Calls that wait for one receiver go in order. Calls of handlers are found without a look at the others.</summary>
[Collection(AllocationTests.Alone)]
public sealed class CallLineTests
{
    private static SendOperation Call(bool handlers)
    {
        var call = SendOperation.Rent(null!, MessageKind.None, 1);
        call.Detached = handlers;
        return call;
    }

    [Fact]
    public void Calls_go_in_the_order_in_which_they_came_whoever_made_them()
    {
        var windows = new PeerWindows(null!, 2);
        SendOperation[] calls = [Call(false), Call(true), Call(true), Call(false), Call(true)];
        foreach (var call in calls) windows.Wait(1, call);
        Assert.Equal(5, windows.Waiting);
        Assert.False(windows.TryPeek(0, out _));
        foreach (var call in calls)
        {
            Assert.True(windows.TryPeek(1, out var first));
            Assert.Same(call, first);
            windows.Dequeue(1);
        }
        Assert.Equal(0, windows.Waiting);
    }

    [Fact]
    public void Calls_of_handlers_are_taken_in_their_order_and_queries_are_not_among_them()
    {
        var windows = new PeerWindows(null!, 1);
        SendOperation[] calls = [Call(false), Call(true), Call(true), Call(false)];
        calls[1].Query = 1;
        foreach (var call in calls) windows.Wait(0, call);
        Assert.True(windows.TryDequeueOfHandlers(0, out var taken));
        Assert.Same(calls[2], taken);
        Assert.False(windows.TryDequeueOfHandlers(0, out _));
        Assert.Equal([calls[0], calls[1], calls[3]], windows.TakeWaiting());
        Assert.Equal(0, windows.Waiting);
    }

    /// <summary>A handler sends while tens of thousands of callers wait for the same receiver: their calls are not even looked at.</summary>
    [Fact]
    public void What_a_handler_sends_past_many_that_wait_allocates_nothing()
    {
        var windows = new PeerWindows(null!, 1);
        for (int i = 0; i < 60_000; i++) windows.Wait(0, Call(false));
        var call = Call(true);
        Pass();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 20_000; i++) Pass();
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1_000);
        Assert.Equal(60_000, windows.Waiting);

        void Pass()
        {
            windows.Wait(0, call);
            while (windows.TryDequeueOfHandlers(0, out var taken)) Assert.Same(call, taken);
        }
    }
}
