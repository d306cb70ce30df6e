using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>
/// Judges a small history by trying every order of its operations: exactly what strict serializability says. It takes exponential time. It is the
/// reference for <see cref="StrictSerializabilityChecker"/>, with which it shares no code but the history itself.
/// </summary>
internal sealed class ExactChecker
{
    private readonly HistoryOperation[] _operations;
    private readonly List<OperationAccess>? _final;
    private readonly Dictionary<string, Held> _store = [];
    private readonly Dictionary<(int Operation, string Key), long> _versions = [];
    private readonly bool[] _done;

    private ExactChecker(History history, List<OperationAccess>? final)
    {
        _operations = [.. history.Operations.Where(static o => o.Outcome != OperationOutcome.Fail)];
        (_final, _done) = (final, new bool[_operations.Length]);
    }

    /// <summary>
    /// Whether an order of all completed operations, and of some of unknown outcome, explains every result, respects real time, and has rising versions of each key. The final
    /// states of replicas, which must be equal, are the state after that order.
    /// </summary>
    public static bool IsExplained(History history)
    {
        List<OperationAccess>? final = null;
        foreach (var replica in history.Finals)
        {
            List<OperationAccess> state = [.. replica.State.Where(static s => !s.Value.IsAbsent).OrderBy(static s => s.Key, StringComparer.Ordinal)
                .Select(s => new OperationAccess(s.Key, s.Value, replica.Versions is { } versions && versions.TryGetValue(s.Key, out long version) ? version : null))];
            if (final is not null && !final.SequenceEqual(state)) return false;
            final = state;
        }
        return new ExactChecker(history, final).Search();
    }

    private bool Search()
    {
        if (Array.TrueForAll(Enumerable.Range(0, _done.Length).ToArray(), at => _done[at] || _operations[at].Outcome == OperationOutcome.Info) && EndsWell()) return true;
        for (int at = 0; at < _operations.Length; at++)
        {
            if (_done[at] || !IsNext(at)) continue;
            var undo = new List<(string Key, Held? Was)>();
            var bound = new List<(int, string)>();
            _done[at] = true;
            bool found = Apply(_operations[at], at, undo, bound) && Search();
            _done[at] = false;
            foreach (var (key, was) in Enumerable.Reverse(undo))
            {
                if (was is { } held) _store[key] = held;
                else _store.Remove(key);
            }
            bound.ForEach(one => _versions.Remove(one));
            if (found) return true;
        }
        return false;
    }

    // An operation that returned before this one was called must already be done.
    private bool IsNext(int at)
    {
        for (int i = 0; i < _operations.Length; i++)
            if (!_done[i] && _operations[i].Outcome == OperationOutcome.Ok && _operations[i].Completed < _operations[at].Invoked) return false;
        return true;
    }

    private bool Apply(HistoryOperation operation, int index, List<(string Key, Held? Was)> undo, List<(int, string)> bound)
    {
        foreach (var read in operation.Reads)
            if (!Explains(read, bound)) return false;
        for (int i = 0; i < operation.Writes.Count; i++)
        {
            var (key, value, version) = operation.Writes[i];
            bool held = _store.TryGetValue(key, out var before);
            undo.Add((key, held ? before : null));
            var now = operation.Appends(i) ? HistoryValue.List([.. before.Value.Elements, value]) : value;
            _store[key] = new(now, [.. before.Writers ?? [], index]);
            if (version is { } known && !Bind(index, key, known, bound)) return false;
        }
        return true;
    }

    private bool Explains(OperationAccess read, List<(int, string)> bound)
    {
        bool held = _store.TryGetValue(read.Key, out var state);
        if (read.Value != state.Value) return false;
        if (read.Version is not { } version) return true;
        return held ? version != 0 && Bind(state.Writers[^1], read.Key, version, bound) : version == 0;
    }

    /// <summary>Gives the write this version; false if it has another, or if versions would not rise.</summary>
    private bool Bind(int writer, string key, long version, List<(int, string)> bound)
    {
        if (version <= 0) return false;
        if (_versions.TryGetValue((writer, key), out long known)) return known == version;
        var order = _store[key].Writers;
        int at = Array.IndexOf(order, writer);
        for (int i = 0; i < order.Length; i++)
            if (i != at && _versions.TryGetValue((order[i], key), out long other) && (i < at ? other >= version : other <= version)) return false;
        _versions.Add((writer, key), version);
        bound.Add((writer, key));
        return true;
    }

    private bool EndsWell()
    {
        if (_final is null) return true;
        var bound = new List<(int, string)>();
        bool well = _store.Count(static held => !held.Value.Value.IsAbsent) == _final.Count && _final.TrueForAll(read => Explains(read, bound));
        bound.ForEach(one => _versions.Remove(one));
        return well;
    }

    private readonly record struct Held(HistoryValue Value, int[] Writers);
}
