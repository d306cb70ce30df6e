using GroupCore.Groups.Calls;

namespace GroupCore.Groups.PointToPoint;

/// <summary>Messages to one member that it has not acknowledged; acknowledgements come in any order.</summary>
/// <param name="first">Number of the first message. The wire has its lower 32 bits, which wrap around: no two open messages have the same.</param>
internal sealed class OutQueue(ulong first = 0)
{
    private const ulong Round = 1UL << 32;
    private readonly OpenRing<Entry> _open = new(first);

    // Links lost so far, and open messages that were sent before the last loss.
    private int _losses;
    private int _perhapsLost;

    public int Count => _open.Count;

    /// <summary>How many messages are closed.</summary>
    public uint Closed => (uint)(_open.Next - (ulong)_open.Count);

    public long Bytes { get; private set; }

    /// <summary>How many messages it has places for; for checks.</summary>
    public int Places => _open.Places;

    /// <summary>Whether a message is open that a link may have lost.</summary>
    public bool AwaitsLost => _perhapsLost > 0;

    /// <summary>The link is lost, and perhaps all open messages with it.</summary>
    public void OnLinkLost()
    {
        _losses++;
        _perhapsLost = Count;
    }

    /// <summary>Adds a message that was sent in the handling <paramref name="parent"/>, 0 for none.</summary>
    public uint Add(ulong parent, int bytes)
    {
        while (TryFind((uint)_open.Next, out _)) _open.Skip();
        Bytes += bytes;
        return (uint)_open.Add(new() { Parent = parent, Size = bytes + 1, Losses = _losses });
    }

    /// <summary>Whether a message is one of the <paramref name="count"/> that were added last.</summary>
    public bool IsAmongLast(uint id, int count) => (uint)_open.Next - 1 - id < (uint)count;

    /// <summary>A message leaves, and counts in a share until it is handled. Nothing happens when it is closed already.</summary>
    public void Owe(uint id, PeerShare share)
    {
        if (!TryFind(id, out ulong number)) return;
        ref var entry = ref _open[number];
        entry.Share = share;
        share.Sent(entry.Size - 1);
    }

    /// <summary>Closes a message; false when it is not open.</summary>
    public bool TryClose(uint id, long now, out ulong parent)
    {
        if (TryFind(id, out ulong number))
        {
            Close(number, now, out parent);
            return true;
        }
        parent = 0;
        return false;
    }

    /// <summary>Closes the oldest open message.</summary>
    public bool TryCloseFirst(long now, out ulong parent)
    {
        if (Count > 0)
        {
            Close(_open.First, now, out parent);
            return true;
        }
        parent = 0;
        return false;
    }

    /// <summary>Releases memory that it does not need.</summary>
    public void Trim() => _open.Trim();

    private void Close(ulong number, long now, out ulong parent)
    {
        ref var entry = ref _open[number];
        int bytes = entry.Size - 1;
        parent = entry.Parent;
        Bytes -= bytes;
        entry.Share?.Handled(bytes, now);
        if (entry.Losses != _losses) _perhapsLost--;
        _open.Close(number);
    }

    // The last number with these lower bits, or an earlier one that has stayed open for a whole round of them or more.
    private bool TryFind(uint id, out ulong number)
    {
        number = _open.Next - 1 - ((uint)_open.Next - 1 - id);
        for (; number < _open.Next && number >= _open.First; number -= Round)
            if (_open.IsOpen(number)) return true;
        return false;
    }

    private struct Entry : IOpenEntry
    {
        public ulong Number { get; set; }

        public ulong Parent;
        public PeerShare? Share;

        /// <summary>Bytes plus one; 0 when it is closed.</summary>
        public int Size;

        /// <summary>Links lost before it was added.</summary>
        public int Losses;

        public readonly bool Open => Size != 0;
    }
}
