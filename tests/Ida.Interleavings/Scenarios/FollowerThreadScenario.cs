using GroupCore.Hosting;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>FollowerThread</c> with <c>LoopOwnership</c>, as the two threads of a loop use them after short batches: some of the owner's completions wait for a turn of the other thread.
/// </summary>
internal sealed class FollowerThreadScenario : Scenario
{
    private const int Leaves = 5;
    private const string TakenOver = "taken over", Replaced = "stuck and replaced", Late = "back too late";
    private const int StreakAndMore = 2 * ShortBatches.Streak;

    public override string Name => "follower";

    public override string Rule => "an owner who is stuck in completions is replaced; one thread at a time is in a turn";

    protected override IEnumerable<string> Own => [TakenOver, Replaced, Late];

    public override Action Begin(Schedule schedule)
    {
        var turn = new Exclusive("a turn");
        var ownership = new LoopOwnership();
        int turns = 0, left = 0;
        bool over = false;
        schedule.Start("main", () =>
        {
            var follower = new FollowerThread(portable: schedule.Draw(2) == 0);
            schedule.IsQuiet = true;
            for (int i = 0; i < StreakAndMore; i++) follower.OnBack(0);
            schedule.IsQuiet = false;
            schedule.Start("first", () => Run(follower, owner: true));
            schedule.Start("second", () => Run(follower, owner: false));
        });
        return () => Check.Equal(schedule, Leaves, left);

        void Run(FollowerThread follower, bool owner)
        {
            while (!over)
            {
                if (owner && RunAsOwner(follower)) break;
                follower.Park();
                owner = !over && ownership.TryResume();
                Reached.At(TakenOver, owner);
            }
        }

        bool RunAsOwner(FollowerThread follower)
        {
            while (true)
            {
                using (turn.Enter("turn")) turns++;
                if (left == Leaves)
                {
                    over = true;
                    follower.End();
                    return true;
                }
                // Not before the other thread waits, or nobody could take over.
                if (!follower.IsParked)
                {
                    Explored.Yield("attends");
                    continue;
                }
                left++;
                int now = turns;
                ownership.Open(LoopState.RunningCompletions);
                follower.OnLeft();
                // It waits for a turn of the other thread.
                bool stuck = schedule.Draw(2) == 0;
                if (stuck) Explored.Wait(() => turns > now, what: "stuck");
                else Explored.Point("completion");
                Reached.At(Replaced, stuck);
                follower.OnBack(schedule.Draw(4) == 0 ? ShortBatches.LongNanoseconds : 0);
                if (ownership.TryResume()) continue;
                Reached.At(Late);
                return false;
            }
        }
    }
}
