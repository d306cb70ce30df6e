using System.Globalization;
using Ida.Testing.Checking;

namespace Ida.Chaos.Judging;

/// <summary>How well the clients were served around each fault, by the successes of all clients together in the history.</summary>
internal sealed class Availability
{
    private const long Millisecond = 1_000_000, Second = 1_000 * Millisecond;
    private const long Before = 2 * Second, After = 15 * Second, Window = Second / 2;

    // In nine faults of ten all clients together wait no longer. Detection, lease and view change take some two seconds; a cut between two that all others reach is decided after ten.
    private const long MostGap = 12 * Second, MostGapOfCut = 14 * Second;
    private const int LeastFaults = 10;
    private readonly List<FaultEffect> _effects = [];
    private readonly long[] _successes;
    private readonly long _calm;

    private Availability(long[] successes, IReadOnlyList<HistoryEvent> faults)
    {
        _successes = successes;
        if (successes.Length < 2) return;
        var begun = faults.Where(static one => one.F is "kill" or "stop" or "cut" or "join" or "leave").OrderBy(static one => one.T).ToList();
        _calm = LongestGap(successes[0], begun.Count > 0 ? begun[0].T : successes[^1]);
        for (int i = 0; i < begun.Count; i++)
        {
            long from = begun[i].T, to = Math.Min(Math.Min(from + After, i + 1 < begun.Count ? begun[i + 1].T : long.MaxValue), successes[^1]);
            if (to > from) _effects.Add(new(begun[i].F!, LongestGap(from, to), Back(from, to)));
        }
    }

    public static Availability Of(History history) =>
        new([.. history.Operations.Where(static one => one.Outcome == OperationOutcome.Ok).Select(static one => one.Completed).Order()], history.Faults);

    public IEnumerable<string> Lines()
    {
        if (_successes.Length < 2) yield break;
        double seconds = (_successes[^1] - _successes[0]) / (double)Second;
        yield return Text($"{_successes.Length} operations succeeded in {seconds:F0} s; longest time without a success before the first fault {Ms(_calm)} ms");
        yield return "fault   number   without a success, ms: median     p90     max   back to 90 % of the rate, ms: median     max   not before the next fault";
        foreach (var kind in _effects.GroupBy(static one => one.Kind).OrderBy(static one => one.Key, StringComparer.Ordinal))
        {
            var gaps = kind.Select(static one => one.Gap).Order().ToList();
            var backs = kind.Where(static one => one.Back is not null).Select(static one => one.Back!.Value).Order().ToList();
            yield return Text($"{kind.Key,-7} {gaps.Count,6}   {Ms(gaps[gaps.Count / 2]),29} {Ms(gaps[gaps.Count * 9 / 10]),7} {Ms(gaps[^1]),7}   {(backs.Count == 0 ? "-" : Ms(backs[backs.Count / 2])),35} {(backs.Count == 0 ? "-" : Ms(backs[^1])),7}   {gaps.Count - backs.Count,25}");
        }
    }

    /// <summary>The kinds of faults after which nobody had an answer for too long, in one case of ten or more; null if there is none. Fewer than ten faults of a kind show nothing.</summary>
    public string? Wrong()
    {
        var slow = _effects.GroupBy(static one => one.Kind).Where(static kind => kind.Count() >= LeastFaults).Select(static kind => (kind.Key, Gap: kind.Select(static one => one.Gap).Order().ElementAt(kind.Count() * 9 / 10)))
            .Where(static one => one.Gap > MostOf(one.Key)).OrderBy(static one => one.Key, StringComparer.Ordinal).ToList();
        return slow.Count == 0 ? null : string.Join(", ", slow.Select(static one => Text($"after one {one.Key} in ten nobody had an answer for {Ms(one.Gap)} ms or more, and {Ms(MostOf(one.Key))} ms are allowed")));
    }

    private static long MostOf(string kind) => string.Equals(kind, "cut", StringComparison.Ordinal) ? MostGapOfCut : MostGap;

    private long LongestGap(long from, long to)
    {
        long last = from, longest = 0;
        for (int i = First(from); i < _successes.Length && _successes[i] <= to; i++)
        {
            longest = Math.Max(longest, _successes[i] - last);
            last = _successes[i];
        }
        return Math.Max(longest, to - last);
    }

    /// <summary>The time from a fault to the first half second after the longest gap with 90 % of the rate before the fault; null if none comes within 15 s and before the next fault.</summary>
    private long? Back(long from, long to)
    {
        double wanted = 0.9 * (First(from) - First(from - Before)) * Window / Before;
        long start = from, last = from, longest = 0;
        for (int i = First(from); i < _successes.Length && _successes[i] <= to; i++)
        {
            if (_successes[i] - last > longest) (longest, start) = (_successes[i] - last, _successes[i]);
            last = _successes[i];
        }
        for (long at = start; at + Window <= to; at += 10 * Millisecond)
            if (First(at + Window) - First(at) >= wanted) return at - from;
        return null;
    }

    /// <summary>Index of the first success at or after a moment.</summary>
    private int First(long time)
    {
        int index = Array.BinarySearch(_successes, time);
        return index >= 0 ? index : ~index;
    }

    private static string Ms(long nanoseconds) => (nanoseconds / Millisecond).ToString(CultureInfo.InvariantCulture);

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private readonly record struct FaultEffect(string Kind, long Gap, long? Back);
}
