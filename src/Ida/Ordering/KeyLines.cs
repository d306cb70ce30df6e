using System.Diagnostics.CodeAnalysis;

namespace Ida.Ordering;

/// <summary>
/// The lines of keys at a member without its state: uses that wait for the value of their key at the view change, or for that of another key of their put, in the order of their
/// execution.
/// </summary>
internal sealed class KeyLines
{
    /// <summary>Bytes that a use or a mark counts, beside the value that it brings.</summary>
    public const int EntryBytes = 300;

    private readonly Dictionary<Entry, (KeyUse First, KeyUse Last)> _lines = [];

    // Entries with a line whose value has not arrived.
    private readonly RangedEntries _unknown = new();

    /// <summary>Bytes that the waiting uses keep.</summary>
    public long Bytes { get; private set; }

    public bool Has(Entry entry) => _lines.ContainsKey(entry);

    /// <summary>The first of a line, if there is one.</summary>
    public bool TryFirst(Entry entry, [NotNullWhen(true)] out KeyUse? first)
    {
        first = _lines.TryGetValue(entry, out var line) ? line.First : null;
        return first is not null;
    }

    /// <summary>Whether a use is the first in its line; it must be in one.</summary>
    public bool IsFirst(KeyUse use) => _lines[use.Entry].First == use;

    /// <summary>A use goes to the end of the line of its key; <paramref name="known"/>: the value of the key is here.</summary>
    public void Add(KeyUse use, bool known)
    {
        use.Op.LateUses++;
        Bytes += SizeOf(use);
        if (_lines.TryGetValue(use.Entry, out var line)) line.Last.Later = use;
        _lines[use.Entry] = (line.First ?? use, use);
        if (!known) _unknown.Add(use.Entry);
    }

    /// <summary>Takes the first of a line.</summary>
    public void Take(KeyUse first)
    {
        first.Op.LateUses--;
        Bytes -= SizeOf(first);
        if (first.Later is { } next) _lines[first.Entry] = (next, _lines[first.Entry].Last);
        else if (_lines.Remove(first.Entry)) _unknown.Remove(first.Entry);
        first.Later = null;
    }

    /// <summary>The value of a key is here.</summary>
    public void Know(Entry entry) => _unknown.Remove(entry);

    /// <summary>Whether keys of a range wait for their values.</summary>
    public bool HasUnknown(int range) => _unknown.HasAny(range);

    public bool TryTakeUnknown(int range, [NotNullWhen(true)] out Entry? entry) => _unknown.TryTake(range, out entry);

    public void Clear()
    {
        _lines.Clear();
        _unknown.Clear();
        Bytes = 0;
    }

    private static int SizeOf(KeyUse use) => EntryBytes + (use.Incoming?.Length ?? 0);
}
