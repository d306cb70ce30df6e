using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>StandIn</c> with <c>TurnGate</c>, as the two threads of a loop use them, where batches have been short: some of the pilot's completions wait for a turn of the other thread.
/// </summary>
internal sealed class StandInScenario : Scenario
{
    private const int Leaves = 5;
    private const string TakenOver = "taken over", Replaced = "stuck and replaced", Late = "back too late";
    private const int StreakAndMore = 2 * ShortBatches.Streak;

    public override string Name => "standin";

    public override string Rule => "a pilot who is stuck in completions is replaced; one thread at a time is in a turn";

    protected override IEnumerable<string> Own => [TakenOver, Replaced, Late];

    public override Action Begin(Schedule schedule)
    {
        var turn = new Exclusive("a turn");
        var gate = new TurnGate();
        int turns = 0, left = 0;
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
        return () => Check.Equal(schedule, Leaves, left);

        void Run(StandIn standIn, bool pilot)
        {
            while (!over)
            {
                if (pilot && Pilot(standIn)) break;
                standIn.Park();
                pilot = !over && gate.TryResume();
                Reached.At(TakenOver, pilot);
            }
        }

        bool Pilot(StandIn standIn)
        {
            while (true)
            {
                using (turn.Enter("turn")) turns++;
                if (left == Leaves)
                {
                    over = true;
                    standIn.End();
                    return true;
                }
                // Not before the other thread waits, or nobody could take over.
                if (!standIn.IsParked)
                {
                    Explored.Yield("attends");
                    continue;
                }
                left++;
                int now = turns;
                gate.Open(PilotState.Away);
                standIn.OnLeft();
                // The other thread's turn, which it waits for.
                bool stuck = schedule.Draw(2) == 0;
                if (stuck) Explored.Wait(() => turns > now, what: "stuck");
                else Explored.Point("completion");
                Reached.At(Replaced, stuck);
                standIn.OnBack(schedule.Draw(4) == 0 ? ShortBatches.LongNanoseconds : 0);
                if (gate.TryResume()) continue;
                Reached.At(Late);
                return false;
            }
        }
    }
}
