namespace Ida.Testing;

/// <summary>
/// Runs a simulated test over many seeds. A seed that fails is run again while its fault schedule is shrunk, and reported with one command
/// that repeats it.
/// </summary>
/// <remarks>
/// Environment: <c>IDA_SEED</c> runs one seed, <c>IDA_SEEDS</c> a count or range ("5000", "5001-9000"), <c>IDA_FAULTS</c> replaces the
/// drawn fault schedule, <c>IDA_KEEP</c> names the disturbances that may happen ("3,9", "none"), such as the shrunk ones of a report. The
/// first seed runs twice, and the two traces must be equal.
/// </remarks>
public static class SimulationRunner
{
    private const int ShrinkingRuns = 300;

    /// <summary>
    /// Runs <paramref name="body"/> for seeds 1 … <paramref name="count"/>. <paramref name="name"/> is the full name of the test method, for
    /// the replay command. Throws <see cref="SimulationFailedException"/> for the first seed that fails.
    /// </summary>
    public static void ForEachSeed(int count, string name, Action<SimulationCase> body)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(body);
        var reduction = Reduction.FromEnvironment();
        var seeds = SeedRange.Choose(count, Environment.GetEnvironmentVariable("IDA_SEED"), Environment.GetEnvironmentVariable("IDA_SEEDS"));
        for (ulong seed = seeds.First; ; seed++)
        {
            var run = new SeedRun(seed, name, ReplayCommand.For(seed, name), body);
            var first = run.Run(reduction);
            if (first.Failure is not null) throw run.Report(first, reduction, ShrinkingRuns);
            if (seed == seeds.First && run.Compare(first, run.Run(reduction)) is { } differ) throw differ;
            if (seed == seeds.Last) return;
        }
    }

    /// <summary>
    /// Runs <paramref name="body"/> for one seed, for campaigns that choose seeds and threads themselves. Returns null when it passes, else the report that
    /// <see cref="ForEachSeed"/> would throw, with <paramref name="replayCommand"/> as the command that repeats it. With <paramref name="twice"/> the seed runs twice, and the
    /// two traces must be equal.
    /// </summary>
    public static SimulationFailedException? RunSeed(ulong seed, string name, string replayCommand, Action<SimulationCase> body, bool twice = false)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(replayCommand);
        ArgumentNullException.ThrowIfNull(body);
        var reduction = Reduction.FromEnvironment();
        var run = new SeedRun(seed, name, replayCommand, body);
        var first = run.Run(reduction);
        if (first.Failure is not null) return run.Report(first, reduction, ShrinkingRuns);
        return twice ? run.Compare(first, run.Run(reduction)) : null;
    }
}
