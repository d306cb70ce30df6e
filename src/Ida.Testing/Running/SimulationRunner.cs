namespace Ida.Testing;

/// <summary>
/// Runs a simulated test over many seeds. A seed that fails is run again while its fault schedule is shrunk, and reported with one command
/// that repeats it.
/// </summary>
/// <remarks>
/// Environment: <c>IDA_SEED</c> runs one seed, <c>IDA_SEEDS</c> a count or range ("5000", "5001-9000"), <c>IDA_FAULTS</c> replaces the
/// drawn fault schedule, such as by the shrunk one of a report. The first seed runs twice, and the two traces must be equal.
/// </remarks>
public static class SimulationRunner
{
    /// <summary>
    /// Runs <paramref name="body"/> for seeds 1 … <paramref name="count"/>. <paramref name="name"/> is the full name of the test method, for
    /// the replay command. Throws <see cref="SimulationFailedException"/> for the first seed that fails.
    /// </summary>
    public static void ForEachSeed(int count, string name, Action<SimulationCase> body)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(body);
        string? faults = Environment.GetEnvironmentVariable("IDA_FAULTS");
        var given = string.IsNullOrWhiteSpace(faults) ? null : FaultSchedule.Parse(faults);
        var seeds = SeedRange.Choose(count, Environment.GetEnvironmentVariable("IDA_SEED"), Environment.GetEnvironmentVariable("IDA_SEEDS"));
        for (ulong seed = seeds.First; ; seed++)
        {
            var first = Run(seed, name, given, body);
            if (first.Failure is not null) throw Report(seed, name, first, body);
            if (seed == seeds.First) RequireSame(seed, name, first, Run(seed, name, given, body));
            if (seed == seeds.Last) return;
        }
    }

    private static Outcome Run(ulong seed, string name, FaultSchedule? given, Action<SimulationCase> body)
    {
        var run = new SimulationCase(seed, Replay(seed, name), given);
        Exception? failure = null;
        try
        {
            body(run);
        }
        catch (Exception exception)
        {
            failure = exception;
        }
        var outcome = new Outcome(failure, run.Drawn, [.. run.Traces]);
        run.End();
        return outcome;
    }

    private static SimulationFailedException Report(ulong seed, string name, Outcome outcome, Action<SimulationCase> body)
    {
        var failure = outcome.Failure!;
        string replay = Replay(seed, name), end = Environment.NewLine;
        if (outcome.Drawn is not { Faults.Count: > 0 } drawn)
            return new($"{name} failed for seed {seed}.{end}Replay: {replay}{end}{failure.Message}", seed, outcome.Drawn, failure);
        var shrunk = FaultShrinker.Shrink(drawn, schedule => IsAlike(Run(seed, name, schedule, body).Failure, failure));
        string text = $"{name} failed for seed {seed}.{end}Replay: {replay}{end}" +
            $"Faults, shrunk from {drawn.Faults.Count} to {shrunk.Faults.Count}: {shrunk}{end}" +
            $"Replay shrunk: IDA_FAULTS=\"{shrunk}\" {replay}{end}{failure.Message}";
        return new(text, seed, shrunk, failure);
    }

    private static void RequireSame(ulong seed, string name, Outcome first, Outcome second)
    {
        if (second.Failure is null && first.Traces.SequenceEqual(second.Traces)) return;
        string traces = $"{string.Join(", ", first.Traces)} and {string.Join(", ", second.Traces)}";
        throw new SimulationFailedException($"{name}: two runs of seed {seed} differ (steps and trace hash {traces}). Something in them depends on " +
            $"hash codes, time, threads or shared state.{Environment.NewLine}Replay: {Replay(seed, name)}", seed, null, second.Failure ?? new InvalidOperationException("The traces differ."));
    }

    private static bool IsAlike(Exception? candidate, Exception failure) =>
        candidate is not null && candidate.GetType() == failure.GetType()
        && (candidate as InvariantViolatedException)?.Invariant == (failure as InvariantViolatedException)?.Invariant
        && candidate.InnerException?.GetType() == failure.InnerException?.GetType();

    private static string Replay(ulong seed, string name) => $"IDA_SEED={seed} dotnet test --filter-method \"{name}\"";

    private sealed record Outcome(Exception? Failure, FaultSchedule? Drawn, List<(long Steps, ulong Hash)> Traces);
}
