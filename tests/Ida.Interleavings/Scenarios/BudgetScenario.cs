using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Transport;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary><c>CallBudget</c> with the node's limit: callers take from it and give back at the same time.</summary>
internal sealed class BudgetScenario : Scenario
{
    private const int Callers = 3, Each = 2;
    private const int Least = 400_000;
    private const long Limit = 6L << 20;
    private const string Refused = "refused";

    public override string Name => "budget";

    public override string Rule => "what calls hold is granted, and nothing is left of it when they are over";

    protected override IEnumerable<string> Own => [Refused];

    public override Action Begin(Schedule schedule)
    {
        var node = new NodeBacklog(Limit);
        var budget = new CallBudget("g", node);
        int waiting = Callers;
        bool given = false;
        var held = new Queue<int>[Callers];
        for (int caller = 0; caller < Callers; caller++)
        {
            var own = held[caller] = new();
            schedule.Start($"caller{caller}", () =>
            {
                for (int i = 0; i < Each; i++)
                {
                    if (own.Count > 0 && schedule.Draw(2) == 0) budget.Return(own.Dequeue(), null, 0);
                    int bytes = Least * (1 + schedule.Draw(5));
                    try
                    {
                        budget.Take(bytes, null, canWait: true);
                        own.Enqueue(bytes);
                    }
                    catch (SendQueueFullException)
                    {
                        Reached.At(Refused);
                    }
                }
                waiting--;
                Explored.Wait(() => given, what: "all");
                while (own.TryDequeue(out int bytes)) budget.TakeBack(bytes, null);
            });
        }
        schedule.Start("main", () =>
        {
            Explored.Wait(() => waiting == 0, what: "callers");
            schedule.IsQuiet = true;
            Check.Equal(schedule, held.Sum(static own => own.Sum()), budget.Bytes, "What is held");
            Check.That(schedule, budget.Bytes <= GroupLimits.QueuedBlock + node.CallBytes, $"{budget.Bytes} are held, and {node.CallBytes} granted by the node");
            schedule.IsQuiet = false;
            given = true;
        });
        return () =>
        {
            Check.Equal(schedule, 0L, budget.Bytes, "What is held at the end");
            Check.Equal(schedule, 0L, node.CallBytes, "What the node has granted at the end");
        };
    }
}
