using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

public sealed class TurnGateTests
{
    /// <summary>The interrupt was meant for users' code that ran on the pilot's thread, and came late.</summary>
    [Fact]
    public void A_pilot_who_is_interrupted_waits_for_the_caller_that_has_the_node()
    {
        var gate = new TurnGate();
        gate.Open(PilotState.Away);
        Assert.True(gate.TryBorrow(atOnce: true, out _));
        bool? resumed = null;
        Exception? thrown = null;
        var pilot = new Thread(() =>
        {
            Thread.CurrentThread.Interrupt();
            try
            {
                resumed = gate.TryResume();
            }
            catch (ThreadInterruptedException error)
            {
                thrown = error;
            }
        });
        pilot.Start();
        for (int i = 0; i < 10_000 && pilot.IsAlive; i++) Thread.Yield();
        gate.Return(PilotState.Away);
        pilot.Join();
        Assert.Null(thrown);
        Assert.True(resumed);
    }
}
