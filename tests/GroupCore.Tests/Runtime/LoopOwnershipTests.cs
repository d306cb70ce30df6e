using GroupCore.Hosting;

namespace GroupCore.Tests.Runtime;

public sealed class LoopOwnershipTests
{
    /// <summary>The interrupt was meant for users' code that ran on the owner's thread, and came late.</summary>
    [Fact]
    public void An_owner_who_is_interrupted_waits_for_the_caller_that_has_the_node()
    {
        var ownership = new LoopOwnership();
        ownership.Open(LoopState.RunningCompletions);
        Assert.True(ownership.TryBorrow(atOnce: true, out _));
        bool? resumed = null;
        Exception? thrown = null;
        var owner = new Thread(() =>
        {
            Thread.CurrentThread.Interrupt();
            try
            {
                resumed = ownership.TryResume();
            }
            catch (ThreadInterruptedException error)
            {
                thrown = error;
            }
        });
        owner.Start();
        for (int i = 0; i < 10_000 && owner.IsAlive; i++) Thread.Yield();
        ownership.Return(LoopState.RunningCompletions);
        owner.Join();
        Assert.Null(thrown);
        Assert.True(resumed);
    }

    /// <summary>Otherwise callers that follow each other could keep sockets and timers waiting for ever.</summary>
    [Fact]
    public void A_gate_that_a_caller_gives_back_is_not_lent_again_before_the_owner_that_waits_has_it()
    {
        bool refused = false;
        // In some rounds the owner has the ownership before the caller asks again.
        for (int round = 0; round < 1_000 && !refused; round++)
        {
            var ownership = new LoopOwnership();
            ownership.Open(LoopState.Asleep);
            bool lent = ownership.TryBorrow(atOnce: false, out _);
            Assert.True(lent);
            var owner = new Thread(ownership.Close);
            owner.Start();
            for (int turn = 0; turn < 100 && lent; turn++)
            {
                Thread.Yield();
                ownership.Return(LoopState.Asleep);
                lent = ownership.TryBorrow(atOnce: false, out _);
            }
            if (lent) ownership.Return(LoopState.Asleep);
            // No thread has the ownership.
            else refused = ownership.TryRouse();
            owner.Join();
        }
        Assert.True(refused);
    }
}
