using Ida.Scenarios;
using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Campaign;

/// <summary>Runs the seeds on all cores, reports each that fails, and prints tables of what all of them did.</summary>
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

    /// <summary>
    /// Whether every ingredient of the schedules was drawn often enough, and none too often, no scenario lost too often what the guarantees need, no cell of the table of calls stayed empty
    /// without being declared, and no task ended with an error that no code looked at.
    /// </summary>
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
        bool isWhole = options.Only is null && options.Count > 1;
        var empty = EmptyCells.Lines(_calls, isWhole ? options.Suite : null).ToList();
        foreach (string line in empty) Console.WriteLine($"  never: {line}");
        string rare = string.Join(", ", _ingredients.Rare);
        if (rare.Length > 0) Console.WriteLine($"Hardly ever drawn: {rare}");
        string often = string.Join(", ", _ingredients.TooOften);
        if (often.Length > 0) Console.WriteLine($"Drawn too often: {often}");
        if (unobserved.Collect() is { } errors) Console.WriteLine(errors);
        string lost = string.Join(", ", _tallies.Values.Where(static tally => tally.LosesTooMuch).Select(static tally => tally.Scenario.Name));
        if (lost.Length > 0) Console.WriteLine($"Lost too often what the guarantees need: {lost}");
        IsThorough = rare.Length == 0 && often.Length == 0 && lost.Length == 0 && !unobserved.Found && !(isWhole && EmptyCells.MustBeNone(empty, progress.Done));
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
            if (!_tallies.TryGetValue(scenario.Name, out var tally)) _tallies.Add(scenario.Name, tally = new(scenario));
            tally.Add(run!);
            _ingredients.Add(scenario, run!);
            _measures.Add(run!.Measures);
            _calls.Add(run!.Calls);
            if (failure is not null && ++_failed <= ReportsAtMost) Console.WriteLine($"{failure.Message}{Environment.NewLine}{Where(failure)}");
            if (options.History is { } file && !_historyWritten && (failure is not null || options.Count == 1)) Write(run!, file);
        }
        return failure is null;
    }

    /// <summary>The innermost stack lines of a failure that is an exception of the code under test; empty for a checker's verdict.</summary>
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

    private sealed class Tally(Scenario scenario)
    {
        private long _runs, _work, _views, _lost, _unjudged;

        public Scenario Scenario => scenario;

        public bool LosesTooMuch => LostShare.IsTooLarge(_lost, _runs, scenario.MostLost);

        public void Add(ScenarioRun run) => (_runs, _work, _views, _lost, _unjudged) = (_runs + 1, _work + run.Work, _views + run.Views, _lost + (run.Lost ? 1 : 0), _unjudged + run.Unjudged);

        public override string ToString() => $"{_runs} schedules, {_work} deliveries or operations, {_views} view changes, {_lost} that lost what the guarantees need{(_unjudged > 0 ? $", {_unjudged} reads that were not judged" : "")}";
    }
}
