namespace Ida.Testing.Checking;

/// <summary>
/// A key that is overwritten. The order of its values comes from version numbers where they are known, and otherwise as far as it can be
/// recovered: absent first, the final value last, what a transaction read before what it wrote, and for strict operations what was seen
/// before the writer of another value was called. Order that is not known is not judged. Absence after a removal is a value like any other; see <see cref="AbsentReads"/> for
/// which read saw which.
/// </summary>
internal sealed class RegisterOrder(Evidence evidence, string name, int index) : KeyOrder(evidence, name, index)
{
    private const int Initial = 0;
    private readonly List<RegisterValue> _values = [new(HistoryValue.Absent, -1)];
    private readonly Dictionary<HistoryValue, int> _indexOf = [];
    private readonly Dictionary<(int From, int To), bool> _order = [];

    public override void Observe()
    {
        var writers = Writers();
        foreach (var write in Writes)
        {
            int at = _values.Count;
            if (!write.Value.IsAbsent && !_indexOf.TryAdd(write.Value, at)) continue;
            _values.Add(new(write.Value, write.Operation));
            if (write.Version is { } version) Learn(at, version, write.Operation);
        }
        foreach (var read in Reads)
        {
            if (read.Value.IsAbsent || !Accept(writers, read.Value, read.Operation)) continue;
            int at = _indexOf[read.Value];
            _values[at].Readers.Add(read.Operation);
            if (read.Version is { } version) Learn(at, version, read.Operation);
            if (read.Version == 0) Report(AnomalyKind.VersionOrder, $"{read.Value} was read with version 0, which is that of a key never written", read.Operation);
        }
        // This comes last, since the readers of the other values tell which absence a read can have seen.
        var absent = new AbsentReads(Evidence, _values);
        foreach (var read in Reads)
        {
            if (read.Value.IsAbsent && !absent.Attribute(read))
                Report(AnomalyKind.VersionOrder, $"absent was read with version {read.Version}, which no removal can have", read.Operation);
        }
    }

    public override void Connect()
    {
        _values.RemoveAll(value => value.Writer >= 0 && !Evidence.IsJudged(value.Writer));
        var versioned = new List<int>();
        bool complete = true;
        for (int at = 1; at < _values.Count; at++)
        {
            if (_values[at].Version is not null) versioned.Add(at);
            else complete = false;
        }
        OrderByVersion(versioned);
        OrderInTransactions();
        int final = FinalValue();
        if (!complete)
        {
            if (Evidence.RealTime) OrderByTime();
            ConnectInitial();
            for (int at = 1; final > Initial && at < _values.Count; at++)
                if (at != final) Order(at, final, false);
        }
        foreach (var ((from, to), timed) in _order.OrderBy(pair => pair.Key)) ConnectValues(_values[from], _values[to], timed);
        foreach (var value in _values.Skip(1))
            foreach (int reader in value.Readers.Concat(value.ReadersSince)) Connect(value.Writer, reader, DependencyKind.WriteRead);
        CheckLost(final);
    }

    /// <summary>Only the latest value shows, and it tells nothing of other writes: a write that does not show was perhaps overwritten.</summary>
    public override bool? Shows(int operation) => null;

    private void Learn(int at, long version, int operation)
    {
        var value = _values[at];
        if (value.Version is { } known && known != version)
            Report(AnomalyKind.VersionOrder, $"{value.Value} has version {known} and version {version}", value.Writer, operation);
        value.Version ??= version;
    }

    private void OrderByVersion(List<int> versioned)
    {
        versioned.Sort((a, b) => (_values[a].Version!.Value, a).CompareTo((_values[b].Version!.Value, b)));
        int last = Initial;
        foreach (int at in versioned)
        {
            if (last != Initial && _values[last].Version == _values[at].Version)
            {
                Report(AnomalyKind.VersionOrder, $"{_values[last].Value} and {_values[at].Value} both have version {_values[at].Version}",
                    _values[last].Writer, _values[at].Writer);
                continue;
            }
            Order(last, at, false);
            last = at;
        }
    }

    /// <summary>What an operation read comes before what it wrote.</summary>
    private void OrderInTransactions()
    {
        var wrote = new Dictionary<int, int>();
        for (int at = 1; at < _values.Count; at++) wrote[_values[at].Writer] = at;
        for (int at = 0; at < _values.Count; at++)
            foreach (int reader in _values[at].Readers)
                if (wrote.TryGetValue(reader, out int written) && written != at) Order(at, written, false);
    }

    /// <summary>
    /// If an operation that saw or wrote one value completed before an operation that saw or wrote another was called, the values are in this order, since no value returns.
    /// Only pairs without a third in between are added.
    /// </summary>
    private void OrderByTime()
    {
        var touches = new List<(long Invoked, long Completed, int Value)>();
        for (int at = 0; at < _values.Count; at++)
        {
            AddTouch(touches, _values[at].Writer, at);
            foreach (int reader in _values[at].Readers) AddTouch(touches, reader, at);
        }
        touches.Sort();
        var ends = touches.OrderBy(t => t.Completed).ToList();
        int ended = 0, live = 0;
        long latestStart = long.MinValue;
        foreach (var touch in touches)
        {
            for (; ended < ends.Count && ends[ended].Completed < touch.Invoked; ended++) latestStart = Math.Max(latestStart, ends[ended].Invoked);
            while (live < ended && ends[live].Completed < latestStart) live++;
            for (int i = live; i < ended; i++)
                if (ends[i].Value != touch.Value) Order(ends[i].Value, touch.Value, true);
        }
    }

    private void AddTouch(List<(long Invoked, long Completed, int Value)> touches, int operation, int value)
    {
        if (operation < 0 || !Evidence.IsJudged(operation) || Operation(operation).IsFinal || Operation(operation).Level != HistoryLevel.Strict) return;
        touches.Add((Operation(operation).Invoked, Operation(operation).Completed, value));
    }

    /// <summary>An operation that read the first absence comes before all writers of the key, except itself.</summary>
    private void ConnectInitial()
    {
        if (_values[Initial].Readers.Count == 0) return;
        int all = Evidence.Graph.AddAuxiliary();
        foreach (int reader in _values[Initial].Readers)
        {
            if (Operation(reader).Writes.Count > 0)
                foreach (var value in _values.Skip(1)) Connect(reader, value.Writer, DependencyKind.ReadWrite);
            else if (Evidence.IsJudged(reader)) Evidence.Graph.Add(reader, all, Index, DependencyKind.ReadWrite);
        }
        foreach (var value in _values.Skip(1)) Evidence.Graph.Add(all, value.Writer, Index, DependencyKind.Through);
    }

    private int FinalValue() => Evidence.HasFinals ? _values.FindIndex(value => value.Readers.Contains(Evidence.Final)) : -1;

    private void Order(int from, int to, bool timed) => _order[(from, to)] = timed && _order.GetValueOrDefault((from, to), true);

    private void ConnectValues(RegisterValue from, RegisterValue to, bool timed)
    {
        if (to.Writer < 0) return;
        if (from.Writer >= 0) Connect(from.Writer, to.Writer, DependencyKind.WriteWrite, timed);
        foreach (int reader in from.Readers.Concat(from.ReadersUntil)) Connect(reader, to.Writer, DependencyKind.ReadWrite, timed);
    }

    private void CheckLost(int final)
    {
        if (final < 0) return;
        foreach (var value in _values.Skip(1))
        {
            if (Operation(value.Writer).Outcome != OperationOutcome.Ok || value.Value.IsAbsent) continue;
            bool isLost = final == Initial || (_values[final].Version is { } last && value.Version > last);
            if (isLost) Report(AnomalyKind.LostWrite, $"{value.Value} was acknowledged, but the final state is {_values[final].Value}", value.Writer);
        }
    }
}
