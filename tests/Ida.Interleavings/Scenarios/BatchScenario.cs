using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>CompletionBatch</c> and its pool: a loop that hands out batches, to the thread pool or to a thread of its own, and adds runners to batches that may be over. A completion
/// may wait for the one behind it.
/// </summary>
internal sealed class BatchScenario : Scenario
{
    private const int Batches = 4, Most = 3;

    public override string Name => "batches";

    public override string Rule => "each completion runs once, and none waits for one that is stuck before it";

    public override Action Begin(Schedule schedule)
    {
        var made = new List<Item>();
        schedule.Start("main", () =>
        {
            var pool = new CompletionBatchPool(error => schedule.Fail($"A completion threw {error}"), static () => { });
            // Two loops' worth of renting, since runners give batches back at the same time.
            for (int i = 0; i < 2; i++) schedule.Start($"loop{i}", () => Loop(schedule, pool, made));
        });
        return () =>
        {
            Check.Equal(schedule, 2 * Batches, made.Select(static item => item.Batch).Distinct().Count());
            foreach (var item in made) Check.Equal(schedule, 1, item.Runs, "The number of runs of a completion");
        };
    }

    private static void Loop(Schedule schedule, CompletionBatchPool pool, List<Item> made)
    {
        var completions = new List<ICompletion>();
        CompletionBatch? last = null;
        for (int i = 0; i < Batches; i++)
        {
            var batch = pool.Rent();
            completions.Clear();
            Item? before = null;
            for (int k = schedule.Draw(Most); k >= 0; k--)
            {
                var item = new Item(schedule, before?.Batch ?? new());
                if (before is not null && schedule.Draw(2) == 0) before.WaitsFor = item;
                made.Add(item);
                completions.Add(item);
                before = item;
            }
            batch.Take(completions);
            // One that the loop runs itself gets its runners from another thread.
            bool here = schedule.Draw(2) == 0;
            if (here) schedule.Start($"relief{made.Count}", () => Relieve(batch));
            if (here) batch.RunHere();
            else batch.Queue();
            if (schedule.Draw(2) == 0) last?.AddRunner();
            last = batch;
        }
    }

    // As the other thread of a loop: it comes when the batch may be over.
    private static void Relieve(CompletionBatch batch)
    {
        Explored.Yield("later");
        batch.AddRunner();
    }

    private sealed class Item(Schedule schedule, object batch) : ICompletion
    {
        public object Batch => batch;

        public Item? WaitsFor { get; set; }

        public int Runs { get; private set; }

        public void Run()
        {
            if (++Runs > 1) schedule.Fail("A completion ran twice");
            if (WaitsFor is { } item) Explored.Wait(() => item.Runs > 0, what: "waits for the next one");
        }
    }
}
