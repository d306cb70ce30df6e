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

    /// <summary>Callers that followed each other would keep sockets and timers waiting for ever.</summary>
    [Fact]
    public void A_gate_that_a_caller_gives_back_is_not_lent_again_before_the_pilot_that_waits_has_it()
    {
        bool refused = false;
        // In some rounds the pilot has the gate before the caller asks again.
        for (int round = 0; round < 1_000 && !refused; round++)
        {
            var gate = new TurnGate();
            gate.Open(PilotState.Asleep);
            bool lent = gate.TryBorrow(atOnce: false, out _);
            Assert.True(lent);
            var pilot = new Thread(gate.Close);
            pilot.Start();
            for (int turn = 0; turn < 100 && lent; turn++)
            {
                Thread.Yield();
                gate.Return(PilotState.Asleep);
                lent = gate.TryBorrow(atOnce: false, out _);
            }
            if (lent) gate.Return(PilotState.Asleep);
            // Nobody has it.
            else refused = gate.TryRouse();
            pilot.Join();
        }
        Assert.True(refused);
    }
}
