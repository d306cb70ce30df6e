namespace Ida.Testing.Checking;

/// <summary>All keys of a history, each with its reads and writes, in the order in which they first occur.</summary>
internal sealed class KeyTable
{
    private readonly Evidence _evidence;
    private readonly Dictionary<string, int> _indexOf = new(StringComparer.Ordinal);
    private readonly List<string> _names = [];
    private readonly List<KeyOrder?> _orders = [];

    private KeyTable(Evidence evidence) => _evidence = evidence;

    public IEnumerable<KeyOrder> Orders => _orders.OfType<KeyOrder>();

    public string NameOf(int index) => _names[index];

    public static KeyTable Build(Evidence evidence)
    {
        var table = new KeyTable(evidence);
        table.Classify();
        table.Fill();
        return table;
    }

    /// <summary>Applied multi-key writes must show in all their keys or in none.</summary>
    public void CheckAtomicity()
    {
        for (int i = 0; i < _evidence.Operations.Count; i++)
        {
            var operation = _evidence.Operations[i];
            if (operation.Writes.Count < 2 || operation.Level == HistoryLevel.Weak) continue;
            string? shown = null, missing = null;
            foreach (var write in operation.Writes)
            {
                bool? shows = _orders[_indexOf[write.Key]]?.Shows(i);
                if (shows == true) shown ??= write.Key;
                if (shows == false) missing ??= write.Key;
            }
            if (shown is not null && missing is not null)
                _evidence.Report.Add(AnomalyKind.PartialWrite, missing, $"op {operation.Id} is in key {shown}, but not in key {missing}", operation);
        }
    }

    private void Classify()
    {
        var appended = new List<bool>();
        var overwritten = new List<bool>();
        foreach (var operation in _evidence.Operations)
        {
            for (int i = 0; i < operation.Writes.Count; i++) Mark(operation.Writes[i].Key, operation.Appends(i) ? appended : overwritten);
            foreach (var read in operation.Reads) Mark(read.Key, null);
        }
        for (int key = 0; key < _names.Count; key++)
        {
            if (appended[key] && overwritten[key])
            {
                _orders.Add(null);
                _evidence.Report.Add(AnomalyKind.MixedKey, _names[key], $"key {_names[key]}: some operations append to it and others overwrite it, so that nothing can be concluded from it");
            }
            else _orders.Add(appended[key] ? new AppendOrder(_evidence, _names[key], key) : new RegisterOrder(_evidence, _names[key], key));
        }

        void Mark(string key, List<bool>? use)
        {
            if (!_indexOf.TryGetValue(key, out int index))
            {
                _indexOf[key] = index = _names.Count;
                _names.Add(key);
                appended.Add(false);
                overwritten.Add(false);
            }
            if (use is not null) use[index] = true;
        }
    }

    private void Fill()
    {
        for (int i = 0; i < _evidence.Operations.Count; i++)
        {
            var operation = _evidence.Operations[i];
            foreach (var write in operation.Writes) _orders[_indexOf[write.Key]]?.Writes.Add(new(i, write.Value, write.Version));
            if (operation.Level == HistoryLevel.Weak) continue;
            foreach (var read in operation.Reads) _orders[_indexOf[read.Key]]?.Reads.Add(new(i, read.Value, read.Version));
        }
        if (!_evidence.HasFinals) return;
        var held = _evidence.Operations[_evidence.Final].Reads.Select(read => read.Key).ToHashSet(StringComparer.Ordinal);
        for (int key = 0; key < _names.Count; key++)
            if (!held.Contains(_names[key])) _orders[key]?.Reads.Add(new(_evidence.Final, HistoryValue.Absent, null));
    }
}
