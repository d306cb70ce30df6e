namespace Ida.Testing.Checking;

/// <summary>
/// Finds out, for a key that was removed, which absence a read saw: the first one, or that after one of the removals. Absence carries no mark of its writer, so this goes by
/// exclusion: the read cannot have seen a removal that was called after it, nor one after which another value was known to be there before the read began. If one removal
/// remains, the read saw that one. If several remain and their versions are known, the read lies between the first and the last of them. If none remains, the read is wrong,
/// and is given to the last removal, which shows as a cycle.
/// </summary>
internal sealed class AbsentReads
{
    private const int Initial = 0;
    private readonly Evidence _evidence;
    private readonly List<RegisterValue> _values;
    private readonly List<int> _absences;
    private readonly long[] _seen, _seenAfter;
    private readonly List<(long Invoked, long Seen)> _byInvocation = [];

    public AbsentReads(Evidence evidence, List<RegisterValue> values)
    {
        (_evidence, _values) = (evidence, values);
        _absences = [.. Enumerable.Range(0, values.Count).Where(at => at == Initial || (values[at].Value.IsAbsent && Writer(at).Outcome != OperationOutcome.Fail))];
        _seen = [.. Enumerable.Range(0, values.Count).Select(Seen)];
        _seenAfter = SeenAfterByVersion();
        for (int at = 1; at < values.Count; at++)
            if (Writer(at).Level == HistoryLevel.Strict && _seen[at] != long.MaxValue) _byInvocation.Add((Writer(at).Invoked, _seen[at]));
        _byInvocation.Sort();
        for (int i = _byInvocation.Count - 2; i >= 0; i--)
            if (_byInvocation[i + 1].Seen < _byInvocation[i].Seen) _byInvocation[i] = (_byInvocation[i].Invoked, _byInvocation[i + 1].Seen);
    }

    /// <summary>Gives a read to the values that explain it; false when its version belongs to no absence that can have existed by then.</summary>
    public bool Attribute(KeyRead read)
    {
        var called = _absences.FindAll(at => at == Initial || (_values[at].Writer != read.Operation && Writer(at).Invoked <= _evidence.Operations[read.Operation].Completed));
        if (read.Version is { } version)
        {
            if (version != 0 && _values.Exists(value => !value.Value.IsAbsent && value.Version == version)) return false;
            var named = called.FindAll(at => at == Initial ? version == 0 : _values[at].Version == version);
            called = named.Count > 0 ? named : called.FindAll(at => at != Initial && _values[at].Version is null);
            if (called.Count == 0) return false;
            // A removal whose caller was not told its version gets it from this read, if it is the only candidate.
            if (called.Count == 1) _values[called[0]].Version ??= called[0] == Initial ? null : version;
        }
        var possible = called.FindAll(at => !WasOver(at, _evidence.Operations[read.Operation]));
        if (possible.Count == 0) Take(called.MaxBy(Place), read);
        else if (possible.Count == 1) Take(possible[0], read);
        else if (possible.TrueForAll(at => at == Initial || _values[at].Version is not null))
        {
            _values[possible.MinBy(Place)].ReadersSince.Add(read.Operation);
            _values[possible.MaxBy(Place)].ReadersUntil.Add(read.Operation);
        }
        return true;
    }

    private HistoryOperation Writer(int at) => _evidence.Operations[_values[at].Writer];

    private (long Version, long Invoked) Place(int at) => at == Initial ? (long.MinValue, long.MinValue) : (_values[at].Version ?? long.MinValue, Writer(at).Invoked);

    private void Take(int at, KeyRead read)
    {
        _values[at].Readers.Add(read.Operation);
        if (at != Initial) _evidence.MarkApplied(_values[at].Writer);
    }

    /// <summary>Whether another value is known to have come after this one before the reader was called.</summary>
    private bool WasOver(int at, HistoryOperation reader)
    {
        if (!reader.IsFinal && (reader.Level != HistoryLevel.Strict || !_evidence.RealTime)) return false;
        if (_seenAfter[at] < reader.Invoked) return true;
        if (at == Initial || Writer(at).Level != HistoryLevel.Strict || Writer(at).Completed == long.MaxValue || !_evidence.RealTime) return false;
        // A write that was called after this removal had returned came after it, whatever the versions say.
        int low = 0, high = _byInvocation.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_byInvocation[middle].Invoked > Writer(at).Completed) high = middle;
            else low = middle + 1;
        }
        return low < _byInvocation.Count && _byInvocation[low].Seen < reader.Invoked;
    }

    /// <summary>The time by which a value was certainly there; the end of time when nobody knew for certain.</summary>
    private long Seen(int at)
    {
        if (at == Initial) return long.MaxValue;
        long seen = Time(_values[at].Writer);
        foreach (int reader in _values[at].Readers) seen = Math.Min(seen, Time(reader));
        return seen;
    }

    private long Time(int operation)
    {
        var known = _evidence.Operations[operation];
        return known.Outcome != OperationOutcome.Ok || known.IsFinal || (_evidence.RealTime && known.Level != HistoryLevel.Strict) ? long.MaxValue : known.Completed;
    }

    private long[] SeenAfterByVersion()
    {
        var after = new long[_values.Count];
        Array.Fill(after, long.MaxValue);
        long seen = long.MaxValue;
        foreach (int at in Enumerable.Range(1, _values.Count - 1).Where(at => _values[at].Version is not null).OrderByDescending(at => _values[at].Version))
        {
            after[at] = seen;
            seen = Math.Min(seen, _seen[at]);
        }
        // Everything comes after the first absence, whether its version is known or not.
        after[Initial] = _seen.Min();
        return after;
    }
}
