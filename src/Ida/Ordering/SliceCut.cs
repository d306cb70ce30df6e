using GroupCore.Basics;

namespace Ida.Ordering;

/// <summary>
/// A slice at one moment, copied a bounded number of entries per turn while operations go on: until an entry is copied, its first change
/// keeps the old value (arrays are never changed in place). Sorted and hashed outside of the loop.
/// </summary>
internal sealed class SliceCut(EntryTable table, DhtState state)
{
    /// <summary>Entries copied in one turn; the range that reaches this number, 1/256 of the slice, is copied whole.</summary>
    public const int EntriesPerTurn = 4096;

    private readonly KeptValues _kept = new();
    private readonly List<(ulong Place, LocalEntry Entry)> _copied = [];
    private readonly List<Entry> _range = [];
    private readonly Lock _making = new();
    private object? _made;
    private int _next;

    public ulong View { get; } = state.View;

    public int Shard { get; } = state.Shard;

    public int Slot { get; } = state.Slot;

    public bool IsInitialised { get; } = state.Initialised;

    /// <summary>The table that is cut. If the slice is dropped meanwhile, this table stays as it is.</summary>
    public EntryTable Table { get; } = table;

    /// <summary>An entry of the table is about to change.</summary>
    public void BeforeChange(Entry entry)
    {
        if (EntryTable.RangeOf(entry.Hash) >= _next) _kept.Keep(entry);
    }

    /// <summary>Whether the cut still keeps a value of an absent entry.</summary>
    public bool Needs(Entry entry) => EntryTable.RangeOf(entry.Hash) >= _next && _kept.HasValue(entry);

    /// <summary>An absent entry that the cut does not need is gone; its key may come back with another entry.</summary>
    public void Forget(Entry entry) => _kept.Forget(entry);

    /// <summary>Copies as much as fits one turn; true when everything is copied.</summary>
    public bool CopyOn(Slice slice)
    {
        for (int copied = 0; _next < EntryTable.Ranges && copied < EntriesPerTurn; copied += _range.Count)
        {
            Table.Collect(_next++, _range);
            foreach (var entry in _range)
            {
                var (value, version) = _kept.Of(entry);
                if (value is not null) _copied.Add((entry.Hash, new(entry.Key, version, value)));
                if (slice.Table == Table) slice.DropIfIdle(entry);
            }
            _kept.ForgetRange(_next - 1);
        }
        return _next == EntryTable.Ranges;
    }

    /// <summary>What is made of the finished cut, on callers' threads or the pool. Callers may share one cut: the first caller makes what all get.</summary>
    public TSlice Made<TSlice>(Func<SliceCut, TSlice> make) where TSlice : class
    {
        using (_making.Hold())
        {
            _made ??= make(this);
            return (TSlice)_made;
        }
    }

    /// <summary>The entries of the finished cut in their order, and a digest of them. To be called once.</summary>
    public IReadOnlyList<LocalEntry> Sort(out ulong digest)
    {
        _copied.Sort(static (a, b) => a.Place != b.Place ? a.Place.CompareTo(b.Place) : a.Entry.Key.Span.SequenceCompareTo(b.Entry.Key.Span));
        digest = 0;
        foreach (var (_, entry) in _copied) digest ^= StableHash.Of(entry.Key.Span, entry.Version) + StableHash.Of(entry.Value.Span, entry.Version);
        return _copied.ConvertAll(static one => one.Entry);
    }
}
