using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>CommandQueue</c> alone: two posters and one taker.</summary>
internal sealed class QueueScenario : Scenario
{
    private const int Posters = 2, Each = 3, Capacity = 4;
    private const string Full = "full", Empty = "empty";

    public override string Name => "queue";

    public override string Rule => "each command is taken once, in the order of its poster, and refused only by a full queue";

    protected override IEnumerable<string> Own => [Full, Empty];

    public override bool IsSmall => true;

    public override Action Begin(Schedule schedule)
    {
        var queue = new CommandQueue(Capacity);
        var taken = new List<Numbered>[Posters];
        int[] most = new int[Posters];
        int all = 0, mayBeQueued = 0;
        for (int poster = 0; poster < Posters; poster++)
        {
            int own = poster;
            taken[own] = [];
            schedule.Start($"poster{own}", () =>
            {
                for (int i = 0; i < Each; i++)
                {
                    mayBeQueued++;
                    for (int k = 0; k < Posters; k++) most[k] = Math.Max(most[k], mayBeQueued);
                    while (true)
                    {
                        most[own] = mayBeQueued;
                        if (queue.TryEnqueue(new Numbered(own, i))) break;
                        Check.That(schedule, most[own] > Capacity, "A queue that was not full meanwhile has refused");
                        Reached.At(Full);
                        Explored.Yield(Full);
                    }
                }
            });
        }
        schedule.Start("taker", () =>
        {
            while (all < Posters * Each)
            {
                bool some = !queue.IsEmpty;
                bool got = queue.TryDequeue(out var command);
                if (some) Check.That(schedule, got, "A queue with a command in it gave none");
                if (!got)
                {
                    Reached.At(Empty);
                    Explored.Yield(Empty);
                    continue;
                }
                all++;
                // The place of the command is free for the posters when they see it: at this fence.
                Explored.Fence("took");
                mayBeQueued--;
                Check.That(schedule, command is Numbered, "It gave no command");
                taken[((Numbered)command!).Poster].Add((Numbered)command);
            }
        });
        return () =>
        {
            foreach (var own in taken) Check.Equal(schedule, "0 1 2", string.Join(' ', own.Select(static one => one.Number)), "What was taken of a poster");
            Check.That(schedule, queue.IsEmpty, "More was taken out than put in");
        };
    }

    private sealed class Numbered(int poster, int number) : NodeCommand
    {
        public int Poster => poster;

        public int Number => number;

        public override void Run()
        {
        }

        public override void Abandon(Exception reason)
        {
        }
    }
}
