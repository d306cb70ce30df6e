using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>Every history of a few operations on one key: every combination of kinds, orders of calls and ends, outcomes and claimed results.</summary>
internal static class AllHistories
{
    private static readonly string[] s_registers = [HistoryFunctions.Get, HistoryFunctions.Put, HistoryFunctions.Delete];
    private static readonly string[] s_lists = [HistoryFunctions.Get, HistoryFunctions.Append];

    public static IEnumerable<History> Of(int most, bool lists, bool versions, bool final)
    {
        for (int count = 1; count <= most; count++)
        {
            var orders = Orders(count).ToList();
            foreach (var kinds in Product(count, lists ? s_lists : s_registers))
            {
                var values = Values(kinds, lists).ToList();
                var results = kinds.Select(kind => Results(kind, values, versions).ToList()).ToArray();
                foreach (var times in orders)
                    foreach (var chosen in Choices(results))
                        foreach (var end in final ? values : [null])
                            yield return History.FromEvents(Events(kinds, times, chosen, end));
            }
        }
    }

    private static IEnumerable<HistoryEvent> Events(string[] kinds, (int Call, int End)[] times, HistoryEvent?[] results, HistoryValue? end)
    {
        for (int at = 0; at < kinds.Length; at++)
        {
            yield return new()
            {
                Op = $"{at}", Client = $"c{at}", Type = HistoryEventType.Invoke, T = times[at].Call, F = kinds[at], Keys = ["k"],
                Values = kinds[at] is HistoryFunctions.Put or HistoryFunctions.Append ? [at + 1] : null,
            };
            if (results[at] is { } result) yield return result with { Op = $"{at}", T = times[at].End };
        }
        if (end is { } state) yield return new() { Type = HistoryEventType.Final, Member = "m", T = 1_000, State = new Dictionary<string, HistoryValue> { ["k"] = state } };
    }

    /// <summary>
    /// The results that an operation may have. A read: any value that was written; of a list, any part of the elements in any order. A write: done, or no result.
    /// </summary>
    private static IEnumerable<HistoryEvent?> Results(string kind, List<HistoryValue?> values, bool versions)
    {
        bool reads = kind == HistoryFunctions.Get;
        if (!reads) yield return null;
        foreach (long? version in versions ? [0, 1, 2] : new long?[] { null })
        {
            if (version == 0 && !reads) continue;
            foreach (var value in reads ? values : [null])
                yield return new() { Type = HistoryEventType.Ok, T = 0, Values = value is { } read ? [read] : null, Versions = version is null ? null : [version] };
        }
    }

    private static IEnumerable<HistoryValue?> Values(string[] kinds, bool lists)
    {
        var written = Enumerable.Range(0, kinds.Length).Where(at => kinds[at] is HistoryFunctions.Put or HistoryFunctions.Append).Select(at => (HistoryValue)(at + 1)).ToArray();
        yield return HistoryValue.Absent;
        if (!lists)
        {
            foreach (var value in written) yield return value;
            yield break;
        }
        for (int length = 1; length <= written.Length; length++)
            foreach (var list in Product(length, written))
                yield return HistoryValue.List(list);
    }

    private static IEnumerable<HistoryEvent?[]> Choices(List<HistoryEvent?>[] results)
    {
        IEnumerable<HistoryEvent?[]> all = [[]];
        foreach (var one in results) all = all.SelectMany(_ => one, static (before, next) => (HistoryEvent?[])[.. before, next]);
        return all;
    }

    private static IEnumerable<T[]> Product<T>(int count, T[] of)
    {
        IEnumerable<T[]> all = [[]];
        for (int i = 0; i < count; i++) all = all.SelectMany(_ => of, static (before, next) => (T[])[.. before, next]);
        return all;
    }

    /// <summary>All orders of the calls and ends of the given number of operations, each call before its end.</summary>
    private static IEnumerable<(int Call, int End)[]> Orders(int count)
    {
        var open = new int[count];
        return Place(new (int Call, int End)[count], open, 1);
    }

    private static IEnumerable<(int Call, int End)[]> Place((int Call, int End)[] times, int[] state, int time)
    {
        if (time > times.Length * 2) yield return [.. times];
        for (int at = 0; at < times.Length; at++)
        {
            if (state[at] == 2) continue;
            var was = times[at];
            times[at] = state[at]++ == 0 ? (time, 0) : (was.Call, time);
            foreach (var all in Place(times, state, time + 1)) yield return all;
            state[at]--;
            times[at] = was;
        }
    }
}
