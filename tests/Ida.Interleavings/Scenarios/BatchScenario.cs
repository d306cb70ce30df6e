using GroupCore.Hosting;
using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// <c>CompletionBatch</c> and its pool: two loops that leave batches to the thread pool or run them themselves, and add runners to batches that may be over. A completion
/// may wait for the one behind it.
/// </summary>
internal sealed class BatchScenario : Scenario
{
    private const int Batches = 4, Most = 3;
    private const string Again = "a batch is used again", Waited = "a completion waits for the next one";

    public override string Name => "batches";

    public override string Rule => "each completion runs once, a batch serves no other turn before they have, and none waits for one that is stuck before it";

    protected override IEnumerable<string> Own => [Again, Waited];

    public override Action Begin(Schedule schedule)
    {
        var made = new List<Item>();
        var serving = new Dictionary<CompletionBatch, List<Item>?>();
        schedule.Start("main", () =>
        {
            var pool = new CompletionBatchPool(error => schedule.Fail($"A completion threw {error}"), static () => { });
            // Two loops rent at the same time, and runners give batches back meanwhile.
            for (int i = 0; i < 2; i++) schedule.Start($"loop{i}", () => Loop(schedule, pool, made, serving));
        });
        return () =>
        {
            foreach (var item in made) Check.Equal(schedule, 1, item.Runs, "The number of runs of a completion");
        };
    }

    private static void Loop(Schedule schedule, CompletionBatchPool pool, List<Item> made, Dictionary<CompletionBatch, List<Item>?> serving)
    {
        var completions = new List<ICompletion>();
        CompletionBatch? last = null;
        for (int i = 0; i < Batches; i++)
        {
            var batch = pool.Rent();
            bool again = serving.TryGetValue(batch, out var served);
            Reached.At(Again, again);
            if (again && served?.TrueForAll(static item => item.IsOver) != true) schedule.Fail("A batch serves two turns");
            // Nobody else may have it while it is filled.
            serving[batch] = null;
            var items = new List<Item>();
            completions.Clear();
            Item? before = null;
            for (int k = schedule.Draw(Most); k >= 0; k--)
            {
                var item = new Item(schedule);
                if (before is not null && schedule.Draw(2) == 0) before.WaitsFor = item;
                made.Add(item);
                items.Add(item);
                completions.Add(item);
                before = item;
            }
            serving[batch] = items;
            batch.Take(completions);
            // A batch that the loop runs itself gets a runner from another thread.
            bool here = schedule.Draw(2) == 0;
            if (here) schedule.Start($"relief{made.Count}", () => Relieve(batch));
            if (here) batch.RunHere();
            else batch.Queue();
            if (schedule.Draw(2) == 0) last?.AddRunner();
            last = batch;
        }
    }

    // Stands for the other thread of a loop, which comes when the batch may be over.
    private static void Relieve(CompletionBatch batch)
    {
        Explored.Yield("later");
        batch.AddRunner();
    }

    private sealed class Item(Schedule schedule) : ICompletion
    {
        public Item? WaitsFor { get; set; }

        public int Runs { get; private set; }

        public bool IsOver { get; private set; }

        public void Run()
        {
            if (++Runs > 1) schedule.Fail("A completion ran twice");
            if (WaitsFor is { } item) Explored.Wait(() => item.Runs > 0, what: "waits for the next one");
            Reached.At(Waited, WaitsFor is not null);
            IsOver = true;
        }
    }
}
