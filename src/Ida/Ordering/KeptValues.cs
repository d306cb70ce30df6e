namespace Ida.Ordering;

/// <summary>
/// What entries held before they changed, for a picture of the slice that is copied or sent while operations go on. Some 60 B for each such entry, as long as the picture is
/// needed; nothing for the others. They are kept by range, so growing moves 1/256 of them at a time.
/// </summary>
internal sealed class KeptValues
{
    private readonly Dictionary<Entry, (byte[]? Value, ulong Version)>?[] _of = new Dictionary<Entry, (byte[]? Value, ulong Version)>?[EntryTable.Ranges];

    /// <summary>An entry is about to change: keeps what it holds. False if something of it is kept already.</summary>
    public bool Keep(Entry entry) => (_of[EntryTable.RangeOf(entry.Hash)] ??= []).TryAdd(entry, (entry.Value, entry.Version));

    /// <summary>What the entry holds in the picture.</summary>
    public (byte[]? Value, ulong Version) Of(Entry entry) =>
        _of[EntryTable.RangeOf(entry.Hash)] is { } kept && kept.TryGetValue(entry, out var held) ? held : (entry.Value, entry.Version);

    /// <summary>Whether a value is kept of an entry: the entry has to stay, even if it is absent now.</summary>
    public bool HasValue(Entry entry) => _of[EntryTable.RangeOf(entry.Hash)] is { } kept && kept.TryGetValue(entry, out var held) && held.Value is not null;

    public void Forget(Entry entry) => _of[EntryTable.RangeOf(entry.Hash)]?.Remove(entry);

    /// <summary>The picture of a range is complete.</summary>
    public void ForgetRange(int range) => _of[range] = null;
}
