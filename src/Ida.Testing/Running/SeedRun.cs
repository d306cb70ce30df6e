namespace Ida.Testing;

/// <summary>One seed of one test: runs it and, if it fails, makes what happens in it smaller and writes the report.</summary>
internal sealed class SeedRun(ulong seed, string test, string replay, Action<SimulationCase> body)
{
    /// <summary>The result of a run.</summary>
    public sealed record Outcome(Exception? Failure, FaultSchedule? Drawn, IReadOnlyList<Disturbance> Happened, List<(long Steps, ulong Hash)> Traces);

    public Outcome Run(Reduction reduction)
    {
        var run = new SimulationCase(seed, replay, reduction);
        Exception? failure = null;
        try
        {
            body(run);
        }
        catch (Exception exception)
        {
            failure = exception;
        }
        var outcome = new Outcome(failure, run.Drawn, run.Happened, [.. run.Traces]);
        try
        {
            run.End();
        }
        catch (Exception exception)
        {
            // What a run has done to its nodes may show only when they end.
            outcome = outcome with { Failure = failure ?? exception };
        }
        return outcome;
    }

    /// <summary>Whether the same seed took the same steps twice; what to report if not.</summary>
    public SimulationFailedException? Compare(Outcome first, Outcome second)
    {
        if (second.Failure is null && first.Traces.SequenceEqual(second.Traces)) return null;
        string traces = $"{string.Join(", ", first.Traces)} and {string.Join(", ", second.Traces)}";
        return new($"{test}: two runs of seed {seed} differ (steps and trace hash {traces}). Something in them depends on " +
            $"hash codes, time, threads or shared state.{Environment.NewLine}Replay: {replay}", seed, null, second.Failure ?? new InvalidOperationException("The traces differ."));
    }

    /// <summary>The report of a failure, with the smallest faults and disturbances found that fail alike in at most <paramref name="maxRuns"/> runs each.</summary>
    public SimulationFailedException Report(Outcome outcome, Reduction given, int maxRuns)
    {
        var failure = outcome.Failure!;
        string end = Environment.NewLine, text = $"{test} failed for seed {seed}.{end}Replay: {given.Variables}{replay}{end}";
        var reduction = given;
        if (outcome.Drawn is { Faults.Count: > 0 } drawn)
        {
            var shrunk = FaultShrinker.Shrink(drawn, schedule => IsAlike(Run(reduction with { Faults = schedule }).Failure, failure), maxRuns);
            reduction = reduction with { Faults = shrunk };
            text += $"Faults, shrunk from {drawn.Faults.Count} to {shrunk.Faults.Count}: {shrunk}{end}";
        }
        if (outcome.Happened.Count > 0)
        {
            var kept = ListShrinker.Shrink([.. outcome.Happened.Select(static one => one.Number)],
                numbers => IsAlike(Run(reduction with { Kept = [.. numbers] }).Failure, failure), maxRuns);
            reduction = reduction with { Kept = [.. kept] };
            var left = Run(reduction).Happened;
            text += $"Disturbances, shrunk from {outcome.Happened.Count} to {left.Count}: {(left.Count == 0 ? "none" : string.Join("; ", left))}{end}";
        }
        if (reduction != given) text += $"Replay shrunk: {reduction.Variables}{replay}{end}";
        return new(text + failure.Message, seed, outcome.Drawn is null ? null : reduction.Faults ?? outcome.Drawn, failure);
    }

    private static bool IsAlike(Exception? candidate, Exception failure) =>
        candidate is not null && candidate.GetType() == failure.GetType()
        && (candidate as InvariantViolatedException)?.Invariant == (failure as InvariantViolatedException)?.Invariant
        && candidate.InnerException?.GetType() == failure.InnerException?.GetType();
}
