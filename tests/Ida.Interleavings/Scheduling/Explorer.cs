using Ida.Interleavings.Scenarios;

namespace Ida.Interleavings.Scheduling;

/// <summary>Runs schedules of a scenario: seed by seed, random ones and those by priorities in turn.</summary>
internal sealed class Explorer(Scenario scenario)
{
    private const ulong Probes = 20;

    // A failed schedule keeps the threads of its lanes, which stop where they are.
    private const int MostOthers = 100;
    private readonly Workers _workers = new();
    private int _points;

    /// <summary>Points of all schedules so far.</summary>
    public long Points { get; private set; }

    /// <summary>What all schedules so far have reached.</summary>
    public Tally Reached { get; } = new();

    /// <summary>
    /// The first schedule that fails, of so many from a seed on; null if none does. With <paramref name="failing"/> only failures that it accepts count, but if very
    /// many schedules fail otherwise, one of those is returned.
    /// </summary>
    public FailedSchedule? Run(ulong seed, long schedules, string? omitted = null, Func<string, bool>? failing = null)
    {
        int others = 0;
        for (long i = 0; i < schedules; i++)
            if (RunOne(seed + (ulong)i, omitted) is { Failure: { } failure } failed && (failing?.Invoke(failure) != false || ++others == MostOthers)) return new(seed + (ulong)i, i + 1, failed);
        return null;
    }

    /// <summary>The schedule of a seed.</summary>
    public Schedule RunOne(ulong seed, string? omitted = null)
    {
        if (_points == 0) _points = Longest();
        var schedule = RunBy(seed % 2 == 0 ? new RandomStrategy(seed) : new PriorityStrategy(seed, _points), omitted);
        Points += schedule.Points;
        Reached.Add(schedule);
        return schedule;
    }

    /// <summary>Runs all schedules with at most so many preemptions, or as many of them as are allowed: the first that fails, how many were run, and whether those were all.</summary>
    public (Schedule? Failed, long Count, bool All) RunBounded(int preemptions, long most, string? omitted = null)
    {
        var strategy = new BoundedStrategy(preemptions);
        long count = 0;
        for (; count < most && strategy.Advance(); count++)
            if (RunBy(strategy, omitted) is { Failure: not null } failed) return (failed, count + 1, false);
        return (null, count, count < most);
    }

    // The longest of some random schedules, the same for each seed: most others are no longer.
    private int Longest()
    {
        int longest = 1;
        for (ulong i = 0; i < Probes; i++) longest = Math.Max(longest, RunBy(new RandomStrategy(2 * i), null).Points);
        return longest;
    }

    private Schedule RunBy(Strategy strategy, string? omitted)
    {
        Omitted.Current = omitted;
        var schedule = new Schedule(strategy, _workers);
        var check = scenario.Begin(schedule);
        schedule.Run();
        if (schedule.Failure is null) check();
        return schedule;
    }
}
