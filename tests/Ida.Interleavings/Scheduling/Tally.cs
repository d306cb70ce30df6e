namespace Ida.Interleavings.Scheduling;

/// <summary>How many schedules reached the things that their scenario has to reach.</summary>
internal sealed class Tally
{
    private readonly Dictionary<string, long> _counts = [];
    private long _schedules;

    public void Add(Schedule schedule)
    {
        _schedules++;
        foreach (string name in schedule.Reached) _counts[name] = _counts.GetValueOrDefault(name) + 1;
    }

    /// <summary>The share of the schedules that reached it.</summary>
    public double ShareOf(string name) => _counts.GetValueOrDefault(name) / (double)Math.Max(1, _schedules);
}
