using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// Judges what calls were told that keys did not hold, at the place that their operations have in the order. Either a condition was not met, so the key had another value than
/// the expected one; or a removal found an entry, so the key was not absent. Such an answer is wrong if the key held just that value at every place that the operation can have.
/// </summary>
/// <remarks>
/// It did if a strict operation saw or made the value and ended before this one was called, and every operation that writes another value to the key was over before that one was
/// called, was called after this one had ended, or has a lower version. An answer that is only possibly wrong is not reported, and only answers of strict calls are judged.
/// </remarks>
internal sealed class SurfaceExclusions
{
    private readonly List<(string Operation, string Key, HistoryValue Value)> _told = [];

    /// <summary>The operation with this record was told that the key did not hold the value.</summary>
    public void Add(string operation, string key, HistoryValue value) => _told.Add((operation, key, value));

    /// <summary>The first answer that is wrong, in words; null where there is none.</summary>
    public string? Wrong(History history)
    {
        if (_told.Count == 0) return null;
        var byId = history.Operations.ToDictionary(static one => one.Id);
        var byKey = _told.Select(static one => one.Key).Distinct().ToDictionary(static key => key, key => history.Operations.Where(one => Touches(one, key)).ToList());
        foreach (var (operation, key, value) in _told)
        {
            if (!byId.TryGetValue(operation, out var told) || told.Level != HistoryLevel.Strict || told.Completed == long.MaxValue) continue;
            var others = byKey[key].FindAll(one => one != told && one.Outcome != OperationOutcome.Fail);
            if (value.IsAbsent && !others.Exists(one => MayChange(one, key, value) && one.Invoked <= told.Completed))
                return $"{told}: it was told that {key} is not absent, and nobody had put a value there.";
            if (others.Find(seen => Shows(seen, key, value) && seen.Completed < told.Invoked && !others.Exists(one => one != seen && MayComeBetween(one, seen, told, key, value))) is { } proof)
                return $"{told}: it was told that {key} does not hold {value}, and it held that since {proof}";
        }
        return null;
    }

    private static bool Touches(HistoryOperation one, string key) => one.Writes.Any(write => write.Key == key) || one.Reads.Any(read => read.Key == key);

    /// <summary>Whether the operation proves that the key held the value at its place in the order.</summary>
    private static bool Shows(HistoryOperation one, string key, HistoryValue value)
    {
        if (one.Outcome != OperationOutcome.Ok || one.Level != HistoryLevel.Strict) return false;
        int at = IndexOf(one, key);
        return at < 0 ? one.Reads.Any(read => read.Key == key && read.Value == value) : !one.Appends(at) && one.Writes[at].Value == value;
    }

    /// <summary>Whether the operation may make the key hold something other than the value.</summary>
    private static bool MayChange(HistoryOperation one, string key, HistoryValue value)
    {
        int at = IndexOf(one, key);
        return at >= 0 && (one.Appends(at) ? !value.Elements.Contains(one.Writes[at].Value) : one.Writes[at].Value != value);
    }

    private static int IndexOf(HistoryOperation one, string key)
    {
        for (int i = 0; i < one.Writes.Count; i++)
            if (one.Writes[i].Key == key) return i;
        return -1;
    }

    private static bool MayComeBetween(HistoryOperation one, HistoryOperation seen, HistoryOperation told, string key, HistoryValue value)
    {
        if (!MayChange(one, key, value) || one.Invoked > told.Completed) return false;
        if (one.Level == HistoryLevel.Strict && one.Completed < seen.Invoked) return false;
        return !(VersionOf(one, key) is { } version && VersionOf(seen, key) is { } held && version < held);
    }

    private static long? VersionOf(HistoryOperation one, string key)
    {
        foreach (var access in one.Writes.Concat(one.Reads))
            if (access.Key == key && access.Version is { } version) return version;
        return null;
    }
}
