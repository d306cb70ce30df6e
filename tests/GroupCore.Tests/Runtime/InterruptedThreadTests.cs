using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Tests.Transport;

namespace GroupCore.Tests.Runtime;

/// <summary>Handlers and continuations run on the threads of the loop. A user's watchdog that interrupts a thread a moment after its handler has ended hits the loop.</summary>
public sealed class InterruptedThreadTests
{
    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    /// <summary>Either the thread is the owner's and sleeps next, or it comes back late and next waits for its turn.</summary>
    [Theory]
    [MemberData(nameof(PortsAndPlaces))]
    public async Task A_thread_that_is_interrupted_after_its_completion_goes_on(string port, bool late)
    {
        await using var node = new TestNode(Enum.Parse<SocketPortKind>(port), spin: TimeSpan.Zero);
        // Callers run no turns.
        await node.Do(static n => n.KeepTurns());
        int interrupted = 0;
        var patience = DateTime.UtcNow + TestNode.Patience;
        while (Volatile.Read(ref interrupted) < 10)
        {
            Assert.True(DateTime.UtcNow < patience, $"{interrupted} interrupted");
            var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            using var others = new ManualResetEventSlim();
            await node.Do(n => n.Complete(new ActionCompletion(() =>
            {
                bool ofLoop = Thread.CurrentThread.Name?.StartsWith("node:", StringComparison.Ordinal) == true;
                if (late) Assert.True(others.Wait(TestNode.Patience));
                if (ofLoop)
                {
                    Thread.CurrentThread.Interrupt();
                    Interlocked.Increment(ref interrupted);
                }
                ended.SetResult();
            })));
            // Runs on the other thread while the first one waits for it.
            await node.Do(static _ => { });
            others.Set();
            await ended.Task.WaitAsync(TestNode.Patience);
            await node.Do(static _ => { });
        }
    }

    public static TheoryData<string, bool> PortsAndPlaces
    {
        get
        {
            var all = new TheoryData<string, bool>();
            foreach (string port in Ports)
            {
                all.Add(port, false);
                all.Add(port, true);
            }
            return all;
        }
    }
}
