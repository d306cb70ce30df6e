namespace Ida.Ordering;

/// <summary>
/// The entries of a slice, addressed by the upper bits of a hash that is good for any keys (not the user's): 256 ranges that grow and shrink each by itself, so that
/// this moves 1/256 of the keys at a time and state transfer walks the ranges in order. A range has at most eight buckets an entry: who bounds a turn by entries bounds it.
/// </summary>
internal sealed class EntryTable
{
    public const int Ranges = 256;
    private const int LeastBuckets = 4, MostEmpty = 8;
    private readonly Range[] _ranges = new Range[Ranges];
    // Of the limit of all clocks: its number, what it is, and how far it has come. One that begins before the last is through takes the next
    // range first: so none is always the last to be come to, however often limits begin, before the numbers have gone round.
    private byte _limited;
    private ulong _mostClock;
    private int _range, _bucket, _buckets, _rangesLeft;

    public EntryTable()
    {
        for (int i = 0; i < Ranges; i++) _ranges[i].Buckets = new Entry?[LeastBuckets];
    }

    /// <summary>Number of entries, absent keys with a queue included.</summary>
    public int Count { get; private set; }

    /// <summary>Buckets of all ranges.</summary>
    public int Buckets => _ranges.Sum(static range => range.Buckets.Length);

    /// <summary>Whether there may be entries that the limit of all clocks has not come to.</summary>
    public bool IsLimiting => _rangesLeft > 0;

    /// <summary>
    /// From now on the clock of each entry that is there is no more than <paramref name="most"/>, or its version if that is later. Who asks for an
    /// entry finds it so; the others come to it by and by, as <see cref="LimitSome"/> is called.
    /// </summary>
    public void LimitClocks(ulong most)
    {
        _limited++;
        _mostClock = most;
        _rangesLeft = Ranges;
        StartRange((_range + 1) % Ranges);
    }

    /// <summary>Comes to some more entries; <paramref name="buckets"/> bounds the work.</summary>
    public void LimitSome(int buckets)
    {
        for (; buckets > 0 && _rangesLeft > 0; buckets--)
        {
            var all = _ranges[_range].Buckets;
            // Its size is another: entries lie elsewhere.
            if (all.Length != _buckets) StartRange(_range);
            for (var entry = all[_bucket]; entry is not null; entry = entry.Chain) Limit(entry);
            if (++_bucket < all.Length) continue;
            _rangesLeft--;
            StartRange((_range + 1) % Ranges);
        }
    }

    /// <summary>The clock of an entry, before it counts.</summary>
    public void Limit(Entry entry)
    {
        if (entry.Limited == _limited) return;
        entry.Limited = _limited;
        entry.Clock = Math.Max(entry.Version, Math.Min(entry.Clock, _mostClock));
    }

    private void StartRange(int range) => (_range, _bucket, _buckets) = (range, 0, _ranges[range].Buckets.Length);

    public static int RangeOf(ulong hash) => (int)(hash >> 56);

    public Entry? Find(ReadOnlySpan<byte> key, ulong hash)
    {
        ref Range range = ref _ranges[RangeOf(hash)];
        for (var entry = range.Buckets[range.Index(hash)]; entry is not null; entry = entry.Chain)
            if (entry.Hash == hash && entry.Key.AsSpan().SequenceEqual(key)) return entry;
        return null;
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

    /// <summary>Copies the entries of a range, sorted by hash and key, so that all replicas walk alike.</summary>
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
