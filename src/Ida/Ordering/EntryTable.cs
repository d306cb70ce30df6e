using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Ida.Ordering;

/// <summary>
/// The entries of a slice, addressed by the upper bits of a hash that spreads any keys well (not the user's). Each of the 256 ranges grows and shrinks by itself, so
/// resizing moves 1/256 of the keys at a time, and state transfer walks the ranges in order. A range has at most eight buckets per entry: a bound on entries bounds a turn.
/// </summary>
internal sealed class EntryTable
{
    public const int Ranges = 256;
    private const int LeastBuckets = 4, MostEmpty = 8;
    private readonly Range[] _ranges = new Range[Ranges];
    // The limit of all clocks: its number, the limit itself, and how far it was applied. A limit that begins before the last one has reached all
    // ranges starts with the next range: so no range always comes last, and each is reached before the numbers wrap, however often limits begin.
    private byte _limited;
    private ulong _mostClock;
    private int _range, _bucket, _buckets, _rangesLeft;

    public EntryTable()
    {
        for (int i = 0; i < Ranges; i++) _ranges[i].Buckets = new Entry?[LeastBuckets];
    }

    /// <summary>Number of entries, absent keys with a queue included.</summary>
    public int Count { get; private set; }

    /// <summary>Code that changes a value counts the change here.</summary>
    public MapSizes Sizes { get; } = new();

    /// <summary>Buckets of all ranges.</summary>
    public int Buckets => _ranges.Sum(static range => range.Buckets.Length);

    /// <summary>Whether the limit of all clocks may not have been applied to some entries yet.</summary>
    public bool IsLimiting => _rangesLeft > 0;

    /// <summary>
    /// Cuts the clock of each entry to at most <paramref name="most"/>, or to its version if that is later. A caller that asks for an
    /// entry gets it cut already; the other entries are cut bit by bit, as <see cref="LimitSome"/> is called.
    /// </summary>
    public void LimitClocks(ulong most)
    {
        _limited++;
        _mostClock = most;
        _rangesLeft = Ranges;
        StartRange((_range + 1) % Ranges);
    }

    /// <summary>Applies the limit to some more entries; <paramref name="buckets"/> bounds the work.</summary>
    public void LimitSome(int buckets)
    {
        for (; buckets > 0 && _rangesLeft > 0; buckets--)
        {
            var all = _ranges[_range].Buckets;
            // The range was resized: its entries are in other buckets.
            if (all.Length != _buckets) StartRange(_range);
            for (var entry = all[_bucket]; entry is not null; entry = entry.Chain) Limit(entry);
            if (++_bucket < all.Length) continue;
            _rangesLeft--;
            StartRange((_range + 1) % Ranges);
        }
    }

    /// <summary>Applies the limit to an entry, before its clock is used.</summary>
    public void Limit(Entry entry)
    {
        if (entry.Limited == _limited) return;
        entry.Limited = _limited;
        entry.Clock = Math.Max(entry.Version, Math.Min(entry.Clock, _mostClock));
    }

    private void StartRange(int range) => (_range, _bucket, _buckets) = (range, 0, _ranges[range].Buckets.Length);

    public static int RangeOf(ulong hash) => (int)(hash >> 56);

    /// <summary>The entry of a key, or null.</summary>
    public Entry? Find(ReadOnlySpan<byte> key, ulong hash)
    {
        ref Range range = ref _ranges[RangeOf(hash)];
        for (var entry = range.Buckets[range.Index(hash)]; entry is not null; entry = entry.Chain)
        {
            if (entry.Hash != hash) continue;
            Prefetch(entry.Value);
            if (entry.Key.AsSpan().SequenceEqual(key)) return entry;
        }
        return null;
    }

    /// <summary>
    /// The length of a value, behind its type, and its first bytes: whoever looks a key up soon needs them. In a slice of 100,000 entries neither key nor value is in
    /// the cache; so both are fetched at the same time. Without this, a put on one member spent 5 % of the processor on waiting for the length of the value that it replaces.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static unsafe void Prefetch(byte[]? value)
    {
        if (Sse.IsSupported) Sse.Prefetch0((byte*)Unsafe.As<byte[]?, nint>(ref value) + sizeof(nint));
    }

    public Entry FindOrAdd(ReadOnlySpan<byte> key, ulong hash, ulong clock)
    {
        if (Find(key, hash) is { } found)
        {
            Limit(found);
            return found;
        }
        ref Range range = ref _ranges[RangeOf(hash)];
        if (range.Count == range.Buckets.Length) range.Resize(range.Buckets.Length * 2);
        var entry = new Entry(key.ToArray(), hash) { Clock = clock, Limited = _limited };
        ref Entry? bucket = ref range.Buckets[range.Index(hash)];
        entry.Chain = bucket;
        bucket = entry;
        range.Count++;
        Count++;
        return entry;
    }

    public void Remove(Entry entry)
    {
        ref Range range = ref _ranges[RangeOf(entry.Hash)];
        ref Entry? link = ref range.Buckets[range.Index(entry.Hash)];
        while (link is not null && link != entry) link = ref link.Chain;
        if (link is null) return;
        link = entry.Chain;
        entry.Chain = null;
        range.Count--;
        Count--;
        if (range.Buckets.Length > LeastBuckets && range.Count < range.Buckets.Length / MostEmpty) range.Resize(range.Buckets.Length / 2);
    }

    /// <summary>The entries of a range, in no order.</summary>
    public void Collect(int range, List<Entry> into)
    {
        into.Clear();
        foreach (var bucket in _ranges[range].Buckets)
            for (var entry = bucket; entry is not null; entry = entry.Chain) into.Add(entry);
    }

    /// <summary>Copies the entries of a range, sorted by hash and key: all replicas walk in the same order.</summary>
    public void CopyRange(int range, List<Entry> into)
    {
        Collect(range, into);
        into.Sort(static (a, b) => a.Hash != b.Hash ? a.Hash.CompareTo(b.Hash) : a.Key.AsSpan().SequenceCompareTo(b.Key));
    }

    private struct Range
    {
        public Entry?[] Buckets;
        public int Count;

        public readonly int Index(ulong hash) => (int)((hash >> 24) & (uint)(Buckets.Length - 1));

        public void Resize(int length)
        {
            var old = Buckets;
            Buckets = new Entry?[length];
            foreach (var bucket in old)
            {
                for (var entry = bucket; entry is not null;)
                {
                    var next = entry.Chain;
                    ref Entry? link = ref Buckets[Index(entry.Hash)];
                    entry.Chain = link;
                    link = entry;
                    entry = next;
                }
            }
        }
    }
}
