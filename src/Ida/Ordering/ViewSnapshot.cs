namespace Ida.Ordering;

/// <summary>
/// The slice as it was when the view was installed, for the members that get the state of the shard from here. Nothing is copied at the install: the first change of an entry in this
/// view keeps a reference to the old value (arrays are never changed in place) until no transfer of the view is left, so the cost goes with the entries that were changed during the
/// transfer (<see cref="KeptValues"/>).
/// </summary>
internal sealed class ViewSnapshot
{
    private const int LookedAtPerTurn = 4096;

    // Null: the snapshot is not open.
    private KeptValues? _kept;

    // Entries of which the snapshot keeps a value, and those of earlier snapshots: such an entry stays though its key may have been removed, until it is looked at after the end.
    private List<Entry> _changed = [];
    private readonly Stack<List<Entry>> _over = [];

    public bool IsOpen => _kept is not null;

    /// <summary>Whether entries wait to be looked at after the end of a snapshot.</summary>
    public bool HasWork => _over.Count > 0;

    /// <summary>Number of entries of which the snapshot keeps a value, and of those that wait to be looked at; 0 where there is no transfer.</summary>
    internal int KeptCount => _changed.Count + _over.Sum(static entries => entries.Count);

    /// <summary>At the install, after the decided operations.</summary>
    public void Open() => _kept = new();

    /// <summary>At the next view change, or when there are no newcomers left.</summary>
    public void Close()
    {
        _kept = null;
        if (_changed.Count == 0) return;
        _over.Push(_changed);
        _changed = [];
    }

    /// <summary>The slice is gone, and no later turn would release anything: drops everything.</summary>
    public void Forget()
    {
        Close();
        _over.Clear();
    }

    /// <summary>What an entry holds in the open snapshot.</summary>
    public (byte[]? Value, ulong Version) Of(Entry entry) => _kept!.Of(entry);

    /// <summary>
    /// An entry is about to change: the snapshot keeps its old value. Of an entry that was absent it notes only that, until the view ends or
    /// the entry is removed, however often the key comes and goes.
    /// </summary>
    public void BeforeChange(Entry entry)
    {
        if (_kept?.Keep(entry) == true && entry.Value is not null) _changed.Add(entry);
    }

    /// <summary>Whether the snapshot keeps a value of an absent entry.</summary>
    public bool Needs(Entry entry) => _kept?.HasValue(entry) == true;

    /// <summary>An absent entry that the snapshot does not need is gone; its key may come back with another entry.</summary>
    public void Forget(Entry entry) => _kept?.Forget(entry);

    /// <summary>Removes entries that only an earlier snapshot needed, a bounded number at a time.</summary>
    public void LookOver(Slice slice)
    {
        if (!_over.TryPeek(out var over)) return;
        int from = Math.Max(0, over.Count - LookedAtPerTurn);
        for (int i = over.Count - 1; i >= from; i--) slice.DropIfIdle(over[i]);
        over.RemoveRange(from, over.Count - from);
        if (from == 0) _over.Pop();
    }
}
