namespace GroupCore.Transport.Mesh;

/// <summary>
/// Objects of peers, by number. Numbers are given once and only grow, so the table is made of pages, with no page where no number has an object:
/// a million peers that came and went cost 32 KB.
/// </summary>
internal sealed class PeerTable<T>
    where T : class
{
    private const int PageBits = 8, PageSize = 1 << PageBits;
    private readonly List<Page?> _pages = [];

    /// <summary>Pages held.</summary>
    public int Pages { get; private set; }

    public T? this[int peer]
    {
        get => (uint)(peer >> PageBits) < (uint)_pages.Count && _pages[peer >> PageBits] is { } page ? page.Items[peer & (PageSize - 1)] : null;
        set
        {
            int at = peer >> PageBits;
            while (_pages.Count <= at) _pages.Add(null);
            if (_pages[at] is not { } page)
            {
                if (value is null) return;
                _pages[at] = page = new();
                Pages++;
            }
            ref var item = ref page.Items[peer & (PageSize - 1)];
            page.Used += (value is null ? 0 : 1) - (item is null ? 0 : 1);
            item = value;
            if (page.Used > 0) return;
            _pages[at] = null;
            Pages--;
        }
    }

    /// <summary>The first number from <paramref name="from"/> on that has an object; −1 for none.</summary>
    public int Next(int from)
    {
        for (int at = from >> PageBits; at < _pages.Count; at++, from = at << PageBits)
        {
            if (_pages[at] is not { } page) continue;
            for (int i = from & (PageSize - 1); i < PageSize; i++)
                if (page.Items[i] is not null) return (at << PageBits) + i;
        }
        return -1;
    }

    private sealed class Page
    {
        public readonly T?[] Items = new T?[PageSize];
        public int Used;
    }
}
