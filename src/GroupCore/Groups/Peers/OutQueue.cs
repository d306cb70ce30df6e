namespace GroupCore.Groups.Peers;

/// <summary>Messages to one member that it has not acknowledged; acknowledgements come in any order.</summary>
/// <param name="first">Number of the first one; numbers go round.</param>
internal sealed class OutQueue(uint first = 0)
{
    private Entry[] _ring = [];
    private uint _first = first;
    // Null when nothing open was on a link that is lost: numbers go round, so that one from long ago would be ahead again.
    private uint? _lostBefore;

    public uint Next { get; private set; } = first;

    public int Count { get; private set; }

    /// <summary>How many are closed.</summary>
    public uint Closed => Next - (uint)Count;

    public long Bytes { get; private set; }

    /// <summary>Whether one of those that a link may have lost is open.</summary>
    public bool AwaitsLost => _lostBefore is not null;

    /// <summary>The link is lost, and with it perhaps what is open.</summary>
    public void OnLinkLost()
    {
        if (Count > 0) _lostBefore = Next;
    }

    /// <summary>Adds a message that was sent in the handling <paramref name="parent"/>, 0 for none.</summary>
    public uint Add(ulong parent, int bytes)
    {
        if (Next - _first == (uint)_ring.Length)
        {
            var larger = new Entry[Math.Max(16, _ring.Length * 2)];
            for (uint id = _first; id != Next; id++) larger[id & (uint)(larger.Length - 1)] = _ring[id & (uint)(_ring.Length - 1)];
            _ring = larger;
        }
        _ring[Next & (uint)(_ring.Length - 1)] = new() { Parent = parent, Bytes = bytes, Open = true };
        Count++;
        Bytes += bytes;
        return Next++;
    }

    /// <summary>Whether a message is one of the <paramref name="count"/> that were added last.</summary>
    public bool IsAmongLast(uint id, int count) => Next - 1 - id < (uint)count;

    /// <summary>A message leaves that counts in a share until it is handled; in none when it is closed.</summary>
    public void Owe(uint id, PeerShare share)
    {
        if (!IsOpen(id)) return;
        ref var entry = ref _ring[id & (uint)(_ring.Length - 1)];
        entry.Share = share;
        share.Sent(entry.Bytes);
    }

    /// <summary>Closes a message; false when it is not open.</summary>
    public bool TryClose(uint id, long now, out ulong parent)
    {
        parent = 0;
        if (!IsOpen(id)) return false;
        ref var entry = ref _ring[id & (uint)(_ring.Length - 1)];
        parent = entry.Parent;
        Bytes -= entry.Bytes;
        entry.Share?.Handled(entry.Bytes, now);
        Count--;
        entry = default;
        while (_first != Next && !_ring[_first & (uint)(_ring.Length - 1)].Open) _first++;
        if (_lostBefore is { } before && (int)(_first - before) >= 0) _lostBefore = null;
        return true;
    }

    /// <summary>Gives back what it does not need when it is empty.</summary>
    public void Trim()
    {
        if (Next == _first) _ring = [];
    }

    /// <summary>Closes the oldest open message.</summary>
    public bool TryCloseFirst(long now, out ulong parent) => TryClose(_first, now, out parent);

    private bool IsOpen(uint id) => id - _first < Next - _first && _ring[id & (uint)(_ring.Length - 1)].Open;

    private struct Entry
    {
        public ulong Parent;
        public PeerShare? Share;
        public int Bytes;
        public bool Open;
    }
}
