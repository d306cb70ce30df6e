using GroupCore.Platform;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>ThreadSignal</c>, on an event descriptor and on an event: two threads wait for two things that others do.</summary>
internal sealed class SignalScenario : Scenario
{
    public override string Name => "signal";

    public override string Rule => "who waits is woken by each thing done after it has looked; a wait without a limit is not over by time";

    public override bool IsSmall => true;

    public override Action Begin(Schedule schedule)
    {
        int things = 0, taken = 0;
        schedule.Start("main", () =>
        {
            var signal = new ThreadSignal(portable: schedule.Draw(2) == 0);
            for (int i = 0; i < 2; i++)
            {
                schedule.Start($"taker{i}", () =>
                {
                    while (taken < 2)
                    {
                        if (things > 0)
                        {
                            things--;
                            taken++;
                            // The last thing taken wakes the other one.
                            if (taken == 2) signal.Set();
                            continue;
                        }
                        Check.That(schedule, signal.Wait(Timeout.Infinite), "A wait without a limit was over by time");
                    }
                    signal.Set();
                });
                schedule.Start($"doer{i}", () =>
                {
                    Explored.Fence("does");
                    things++;
                    signal.Set();
                });
            }
        });
        return () => Check.Equal(schedule, 2, taken);
    }
}
