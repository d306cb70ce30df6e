using System.Diagnostics.CodeAnalysis;

namespace Ida.Ordering;

/// <summary>A set of entries by the range in which they lie. Adding and removing cost the same however many there are.</summary>
internal sealed class RangedEntries
{
    private readonly List<Entry>?[] _of = new List<Entry>?[EntryTable.Ranges];

    // The index of each entry in the list of its range.
    private readonly Dictionary<Entry, int> _at = [];

    public int Count => _at.Count;

    public bool HasAny(int range) => _of[range] is { Count: > 0 };

    public void Add(Entry entry)
    {
        var list = _of[EntryTable.RangeOf(entry.Hash)] ??= [];
        if (_at.TryAdd(entry, list.Count)) list.Add(entry);
    }

    public void Remove(Entry entry)
    {
        if (!_at.Remove(entry, out int at)) return;
        var list = _of[EntryTable.RangeOf(entry.Hash)]!;
        var last = list[^1];
        list.RemoveAt(list.Count - 1);
        if (last == entry) return;
        list[at] = last;
        _at[last] = at;
    }

    public bool TryTake(int range, [NotNullWhen(true)] out Entry? entry)
    {
        entry = HasAny(range) ? _of[range]![^1] : null;
        if (entry is not null) Remove(entry);
        return entry is not null;
    }

    /// <summary>Moves all entries to a list, in the order of the ranges.</summary>
    public void MoveTo(List<Entry> all)
    {
        foreach (var list in _of)
            if (list is not null) all.AddRange(list);
        Clear();
    }

    public void Clear()
    {
        Array.Clear(_of);
        _at.Clear();
        _at.TrimExcess();
    }
}
