using Ida.NetworkMember;

namespace Ida.Network.Tests.Checking;

/// <summary>
/// Whether there was ever more than one primary, by what all processes recorded on one clock. A process that is no member of a view must not have acted in an earlier one after anybody had acted in that
/// view; and of two systems one must have ended before the other began. Nothing is held against a process that can be explained otherwise: an act was at some moment of its interval.
/// </summary>
internal sealed class PrimaryIntervals
{
    private const double Millisecond = 1e6;
    private readonly List<string> _violations = [];

    public PrimaryIntervals(IReadOnlyList<Act> acts)
    {
        foreach (var system in acts.GroupBy(static act => act.System, StringComparer.Ordinal)) Compare([.. system]);
        var systems = acts.GroupBy(static act => act.System, StringComparer.Ordinal).Select(static system => (system.Key, First: system.Min(static act => act.To), Last: system.Max(static act => act.From))).OrderBy(static system => system.First).ToList();
        for (int i = 1; i < systems.Count; i++)
            if (systems[i - 1].Last > systems[i].First) _violations.Add($"system {systems[i - 1].Key} acted {(systems[i - 1].Last - systems[i].First) / Millisecond:F1} ms after system {systems[i].Key} had begun to act");
    }

    /// <summary>What shows two primaries at one time; empty: there never were.</summary>
    public IReadOnlyList<string> Violations => _violations;

    /// <summary>
    /// The shortest time from the last act of a process that was excluded to the first act in a view without it; null if nobody was excluded who had acted. What this was is a matter of the lease: it shows how
    /// near to two primaries it was.
    /// </summary>
    public TimeSpan? Margin { get; private set; }

    private void Compare(List<Act> acts)
    {
        var views = new SortedDictionary<ulong, (IReadOnlyList<string> Members, Act First)>();
        foreach (var act in acts)
        {
            if (!views.TryGetValue(act.View, out var view)) views[act.View] = (act.Members, act);
            else if (!view.Members.SequenceEqual(act.Members)) _violations.Add($"view {act.View} is [{string.Join(' ', view.Members)}] and [{string.Join(' ', act.Members)}]");
            else if (act.To < view.First.To) views[act.View] = (act.Members, act);
        }
        foreach (var (number, (members, first)) in views)
        {
            // The last act of each process that is out of this view, in an earlier one.
            var last = acts.Where(act => act.View < number && !members.Contains(act.Process)).GroupBy(static act => act.Process, StringComparer.Ordinal).Select(static one => one.MaxBy(static act => act.From)!);
            foreach (var act in last)
            {
                long between = first.To - act.From;
                if (between < 0)
                    _violations.Add($"{act.Process} at {act.Address} began a {act.Kind} in view {act.View} {-between / Millisecond:F1} ms after {first.Process} at {first.Address} had ended a {first.Kind} in view {number}, of which {act.Process} is no member");
                var margin = TimeSpan.FromMilliseconds(between / Millisecond);
                if (Margin is not { } shortest || margin < shortest) Margin = margin;
            }
        }
    }
}
