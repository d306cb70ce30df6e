using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>StandIn</c> with <c>TurnGate</c>, as the two threads of a loop use them, where batches have been short: some of the pilot's completions wait for a turn of the other thread.
/// </summary>
internal sealed class StandInScenario : Scenario
{
    private const int Turns = 5;
    private const int StreakAndMore = 2 * ShortBatches.Streak;

    public override string Name => "standin";

    public override string Rule => "a pilot who is stuck in completions is replaced; one thread at a time is in a turn";

    public override Action Begin(Schedule schedule)
    {
        var turn = new Exclusive("a turn");
        var gate = new TurnGate();
        int turns = 0;
        bool over = false;
        schedule.Start("main", () =>
        {
            var standIn = new StandIn(portable: schedule.Draw(2) == 0);
            schedule.IsQuiet = true;
            for (int i = 0; i < StreakAndMore; i++) standIn.OnBack(0);
            schedule.IsQuiet = false;
            schedule.Start("first", () => Run(standIn, pilot: true));
            schedule.Start("second", () => Run(standIn, pilot: false));
        });
        return () => Check.Equal(schedule, Turns, turns);

        void Run(StandIn standIn, bool pilot)
        {
            while (!over)
            {
                if (pilot && Pilot(standIn)) break;
                standIn.Park();
                pilot = !over && gate.TryResume();
            }
        }

        bool Pilot(StandIn standIn)
        {
            while (true)
            {
                using (turn.Enter("turn")) turns++;
                if (turns == Turns)
                {
                    over = true;
                    standIn.End();
                    return true;
                }
                if (!standIn.IsParked) continue;
                int now = turns;
                gate.Open(PilotState.Away);
                standIn.OnLeft();
                // The other thread's turn, which it waits for.
                if (schedule.Draw(2) == 0) Explored.Wait(() => turns > now, what: "stuck");
                else Explored.Point("completion");
                standIn.OnBack(schedule.Draw(4) == 0 ? ShortBatches.LongNanoseconds : 0);
                if (!gate.TryResume()) return false;
            }
        }
    }
}
