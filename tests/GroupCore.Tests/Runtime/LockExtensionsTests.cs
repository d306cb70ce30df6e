using GroupCore.Basics;

namespace GroupCore.Tests.Runtime;

/// <summary>Any thread may run a node's turn. An interrupt does not end its wait for a lock there, and is not lost.</summary>
public sealed class LockExtensionsTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void An_interrupt_does_not_end_the_wait_for_a_lock_and_stays_with_the_thread()
    {
        var gate = new Lock();
        bool held = false, kept = false, free = false;
        Exception? ended = null;
        var other = new Thread(() =>
        {
            Thread.CurrentThread.Interrupt();
            try
            {
                using (gate.Hold()) held = free;
                // The interrupt ends the thread's own next wait.
                Thread.Sleep(Timeout.Infinite);
            }
            catch (ThreadInterruptedException)
            {
                kept = held;
            }
            catch (Exception error)
            {
                ended = error;
            }
        })
        {
            // If no interrupt ends the thread, it must not keep the process.
            IsBackground = true,
        };
        using (gate.Hold())
        {
            other.Start();
            Assert.True(SpinWait.SpinUntil(() => other.ThreadState.HasFlag(ThreadState.WaitSleepJoin) || !other.IsAlive, s_patience));
            free = true;
        }
        Assert.True(other.Join(s_patience));
        Assert.Null(ended);
        Assert.True(held);
        Assert.True(kept);
    }

    [Fact]
    public void A_lock_that_is_held_may_be_entered_again_by_its_thread()
    {
        var gate = new Lock();
        using (gate.Hold())
        using (gate.Hold()) Assert.True(gate.IsHeldByCurrentThread);
        Assert.False(gate.IsHeldByCurrentThread);
    }
}
