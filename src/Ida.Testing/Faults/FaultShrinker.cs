namespace Ida.Testing;

/// <summary>
/// Makes a schedule that fails smaller while it still fails: first fewer faults (halves, quarters, … single ones, as delta debugging
/// does), then shorter and earlier ones.
/// </summary>
public static class FaultShrinker
{
    private static readonly TimeSpan Shortest = TimeSpan.FromMicroseconds(10);

    /// <summary>
    /// The smallest schedule found with at most <paramref name="maxRuns"/> calls of <paramref name="fails"/>, which runs a schedule anew and
    /// says whether it fails in the same way.
    /// </summary>
    public static FaultSchedule Shrink(FaultSchedule schedule, Func<FaultSchedule, bool> fails, int maxRuns = 300)
    {
        ArgumentNullException.ThrowIfNull(schedule);
        ArgumentNullException.ThrowIfNull(fails);
        int runs = 0;
        var faults = schedule.Faults.ToList();
        bool Fails(List<Fault> candidate) => runs++ < maxRuns && fails(new(candidate));
        bool smaller = true;
        while (smaller && runs < maxRuns) smaller = ListShrinker.Once(ref faults, Fails) | HalveSome(faults, Fails);
        return new(faults);
    }

    private static bool HalveSome(List<Fault> faults, Func<List<Fault>, bool> fails)
    {
        bool halved = false;
        for (int i = 0; i < faults.Count; i++)
        {
            while (faults[i].For > Shortest && Try(faults[i] with { For = Round(faults[i].For / 2) })) halved = true;
            while (faults[i].At > Shortest && Try(faults[i] with { At = Round(faults[i].At / 2) })) halved = true;

            bool Try(Fault smaller)
            {
                var before = faults[i];
                faults[i] = smaller;
                if (fails(faults)) return true;
                faults[i] = before;
                return false;
            }
        }
        return halved;
    }

    private static TimeSpan Round(TimeSpan time) => TimeSpan.FromTicks(time.Ticks / 10 * 10);
}
