using Ida.Scenarios;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Campaign;

/// <summary>Runs the seeds on all cores, reports each that fails, and what was done in all of them.</summary>
internal sealed class SeedCampaign(CampaignOptions options)
{
    private const int ReportsAtMost = 10, StackLines = 8;
    private readonly Lock _lock = new();
    private readonly SortedDictionary<string, Tally> _tallies = [];
    private readonly IngredientTable _ingredients = new();
    private readonly Measures _measures = new();
    private readonly CallTable _calls = new();
    private int _failed;
    private bool _historyWritten;

    /// <summary>Whether every ingredient of the schedules was drawn often enough, and no task ended with an error that nobody looked at.</summary>
    public bool IsThorough { get; private set; } = true;

    public (long Passed, long Failed) Run(CancellationToken cancel)
    {
        using var unobserved = new UnobservedSeeds();
        using var progress = new Progress(options.Count, options.Time);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        if (options.Time is { } time) end.CancelAfter(time);
        Seeds.Run(options.First, options.Count, seed =>
        {
            unobserved.Begin(seed);
            bool failed = !Run(seed);
            if (unobserved.End(seed) is { } found) Console.WriteLine(found);
            progress.Advance();
            return !(failed && options.StopsAtFirst);
        }, end.Token);
        foreach (var (name, tally) in _tallies) Console.WriteLine($"{name}: {tally}");
        _ingredients.Print(Console.Out);
        _measures.Print(Console.Out);
        _calls.Print(Console.Out);
        foreach (string line in EmptyCells.Lines(_calls, options.Only is null && options.Count > 1 ? options.Suite : null)) Console.WriteLine($"  never: {line}");
        string rare = string.Join(", ", _ingredients.Rare);
        if (rare.Length > 0) Console.WriteLine($"Hardly ever drawn: {rare}");
        if (unobserved.Collect() is { } errors) Console.WriteLine(errors);
        IsThorough = rare.Length == 0 && !unobserved.Found;
        return (progress.Done - _failed, _failed);
    }

    private bool Run(ulong seed)
    {
        var scenario = options.Of(seed);
        ScenarioRun? run = null;
        var failure = SimulationRunner.RunSeed(seed, scenario.Name, options.Replay(seed), simulation =>
        {
            var current = new ScenarioRun(simulation, scenario);
            run ??= current;
            scenario.Play(current);
        });
        lock (_lock)
        {
            if (!_tallies.TryGetValue(scenario.Name, out var tally)) _tallies.Add(scenario.Name, tally = new());
            tally.Add(run!);
            _ingredients.Add(scenario, run!);
            _measures.Add(run!.Measures);
            _calls.Add(run!.Calls);
            if (failure is not null && ++_failed <= ReportsAtMost) Console.WriteLine($"{failure.Message}{Environment.NewLine}{Where(failure)}");
            if (options.History is { } file && !_historyWritten && (failure is not null || options.Count == 1)) Write(run!, file);
        }
        return failure is null;
    }

    /// <summary>The innermost places of a failure that is an exception of the code under test, and no verdict.</summary>
    private static string Where(Exception failure)
    {
        var root = failure.GetBaseException();
        return root is ScenarioFailedException ? "" : string.Join('\n', (root.StackTrace ?? "").Split('\n').Take(StackLines)) + Environment.NewLine;
    }

    private void Write(ScenarioRun run, string file)
    {
        if (run.History is null) return;
        _historyWritten = true;
        using var writer = new StreamWriter(file);
        run.History.Write(writer);
    }

    private sealed class Tally
    {
        private long _runs, _work, _views, _lost;

        public void Add(ScenarioRun run) => (_runs, _work, _views, _lost) = (_runs + 1, _work + run.Work, _views + run.Views, _lost + (run.Lost ? 1 : 0));

        public override string ToString() => $"{_runs} schedules, {_work} deliveries or operations, {_views} view changes, {_lost} that lost what the guarantees need";
    }
}
