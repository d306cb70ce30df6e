namespace Ida.Testing.Checking;

/// <summary>
/// A key that holds a list. The longest list that was read is the order of its writes; every other read must be a prefix of it. Applied
/// appends that no list shows come after it, in the order of their versions where those are known.
/// </summary>
internal sealed class AppendOrder(Evidence evidence, string name, int index) : KeyOrder(evidence, name, index)
{
    private readonly Dictionary<int, int> _positionOf = [];
    private readonly List<int> _unseen = [];
    private HistoryValue _longest;
    private int _longestReader = -1;
    private int[] _writerAt = [];
    private int _finalLength = -1;

    public override void Observe()
    {
        var writers = Writers();
        foreach (var read in Reads)
        {
            if (read.Value.Kind is not (HistoryValueKind.List or HistoryValueKind.Absent))
                Report(AnomalyKind.UnwrittenValue, $"a list was expected, but {read.Value} was read", read.Operation);
            else if (_longestReader < 0 || read.Value.Elements.Length > _longest.Elements.Length)
                (_longest, _longestReader) = (read.Value, read.Operation);
        }
        foreach (var read in Reads)
            if (Evidence.HasFinals && read.Operation == Evidence.Final) _finalLength = read.Value.Elements.Length;
        // A read that fits into no order is reported, and no order is concluded from it.
        Reads.RemoveAll(read => !IsPrefix(read, writers));
        NameWriters(writers);
        CheckVersions();
        CheckLost();
    }

    public override void Connect()
    {
        int last = -1;
        foreach (int writer in _writerAt)
        {
            if (writer < 0) continue;
            if (last >= 0) Connect(last, writer, DependencyKind.WriteWrite);
            last = writer;
        }
        int tail = ConnectTail(last);
        foreach (var read in Reads)
        {
            int length = read.Value.Elements.Length;
            if (length > 0 && _writerAt[length - 1] >= 0) Connect(_writerAt[length - 1], read.Operation, DependencyKind.WriteRead);
            int after = length;
            while (after < _writerAt.Length && _writerAt[after] < 0) after++;
            if (after < _writerAt.Length) Connect(read.Operation, _writerAt[after], DependencyKind.ReadWrite);
            else if (tail >= 0) ConnectToUnseen(read.Operation, tail);
        }
    }

    public override bool? Shows(int operation) => _positionOf.TryGetValue(operation, out int position)
        ? !Evidence.HasFinals || position < _finalLength
        : Evidence.HasFinals ? false : null;

    private bool IsPrefix(KeyRead read, Dictionary<HistoryValue, KeyWrite> writers)
    {
        if (read.Value.Kind is not (HistoryValueKind.List or HistoryValueKind.Absent)) return false;
        int common = read.Value.Elements.CommonPrefixLength(_longest.Elements);
        if (common == read.Value.Elements.Length) return true;
        Report(AnomalyKind.IncompatibleOrder, $"the lists {read.Value} and {_longest} differ at position {common}", read.Operation, _longestReader);
        foreach (var element in read.Value.Elements[common..]) Accept(writers, element, read.Operation);
        return false;
    }

    private void NameWriters(Dictionary<HistoryValue, KeyWrite> writers)
    {
        var order = _longest.Elements;
        _writerAt = new int[order.Length];
        for (int at = 0; at < order.Length; at++)
        {
            _writerAt[at] = -1;
            if (!Accept(writers, order[at], _longestReader)) continue;
            int writer = writers[order[at]].Operation;
            if (_positionOf.TryAdd(writer, at)) _writerAt[at] = writer;
            else Report(AnomalyKind.DuplicateElement, $"{order[at]} is in the list at positions {_positionOf[writer]} and {at}", writer, _longestReader);
        }
    }

    private void CheckVersions()
    {
        var known = new List<(int Length, long Version, int Operation)>();
        foreach (var write in Writes)
            if (write.Version is { } version && _positionOf.TryGetValue(write.Operation, out int at)) known.Add((at + 1, version, write.Operation));
        foreach (var read in Reads)
        {
            if (read.Version is not { } version) continue;
            // Nothing removes a list.
            if (read.Value.IsAbsent != (version == 0)) Report(AnomalyKind.VersionOrder, $"{read.Value} was read with version {version}; 0 is that of a key never written", read.Operation);
            else if (!read.Value.IsAbsent) known.Add((read.Value.Elements.Length, version, read.Operation));
        }
        known.Sort();
        // Appends that no list shows come after all that one shows, each at a place of its own.
        int length = _writerAt.Length;
        foreach (var write in UnseenByVersion()) known.Add((++length, write.Version!.Value, write.Operation));
        for (int i = 1; i < known.Count; i++)
        {
            var (earlier, later) = (known[i - 1], known[i]);
            if (earlier.Length == later.Length ? earlier.Version == later.Version : earlier.Version < later.Version) continue;
            Report(AnomalyKind.VersionOrder, $"version {earlier.Version} at length {earlier.Length}, but {later.Version} at length {later.Length}",
                earlier.Operation, later.Operation);
        }
    }

    /// <summary>Appends with known versions that no list shows, in the order of their versions.</summary>
    private IOrderedEnumerable<KeyWrite> UnseenByVersion() =>
        Writes.Where(write => write.Version is not null && !_positionOf.ContainsKey(write.Operation)).OrderBy(static write => write.Version).ThenBy(static write => write.Operation);

    private void CheckLost()
    {
        int latest = LatestStrictRead();
        foreach (var write in Writes)
        {
            var writer = Operation(write.Operation);
            if (writer.Outcome != OperationOutcome.Ok || writer.Level == HistoryLevel.Weak || Shows(write.Operation) == true) continue;
            if (Evidence.HasFinals)
            {
                Report(AnomalyKind.LostWrite, $"{write.Value} was acknowledged, but is not in the final state", write.Operation);
                continue;
            }
            if (latest >= 0 && writer.Level == HistoryLevel.Strict && Operation(latest).Invoked > writer.Completed)
                Report(AnomalyKind.LostWrite, $"{write.Value} was acknowledged, but no read shows it", write.Operation, latest);
        }
        if (!Evidence.HasFinals) return;
        for (int at = Math.Max(_finalLength, 0); at < _writerAt.Length; at++)
        {
            if (_writerAt[at] >= 0 && Operation(_writerAt[at]).Outcome != OperationOutcome.Ok)
                Report(AnomalyKind.LostWrite, $"{_longest.Elements[at]} was read, but is not in the final state", _writerAt[at], _longestReader);
        }
    }

    private int LatestStrictRead()
    {
        int latest = -1;
        if (!Evidence.RealTime) return latest;
        foreach (var read in Reads)
        {
            var reader = Operation(read.Operation);
            if (reader.Level == HistoryLevel.Strict && (latest < 0 || reader.Invoked > Operation(latest).Invoked)) latest = read.Operation;
        }
        return latest;
    }

    /// <summary>An operation that read all that any list shows comes before all appends that no list shows, except its own.</summary>
    private void ConnectToUnseen(int reader, int tail)
    {
        if (Operation(reader).Writes.Any(write => write.Key == Name))
            foreach (int writer in _unseen) Connect(reader, writer, DependencyKind.ReadWrite);
        else if (Evidence.IsJudged(reader)) Evidence.Graph.Add(reader, tail, Index, DependencyKind.ReadWrite);
    }

    /// <summary>A node before all applied appends that no list shows, and after all that a list shows; −1 when all are shown.</summary>
    private int ConnectTail(int last)
    {
        foreach (var write in Writes)
            if (Evidence.IsJudged(write.Operation) && !_positionOf.ContainsKey(write.Operation)) _unseen.Add(write.Operation);
        int tail = _unseen.Count > 0 ? Evidence.Graph.AddAuxiliary() : -1;
        foreach (int writer in _unseen) Evidence.Graph.Add(tail, writer, Index, DependencyKind.Through);
        int before = -1;
        foreach (var write in UnseenByVersion())
        {
            if (before >= 0) Connect(before, write.Operation, DependencyKind.WriteWrite);
            before = write.Operation;
        }
        if (tail >= 0 && last >= 0 && Evidence.IsJudged(last)) Evidence.Graph.Add(last, tail, Index, DependencyKind.WriteWrite);
        return tail;
    }
}
