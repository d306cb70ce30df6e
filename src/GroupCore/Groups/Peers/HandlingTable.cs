namespace GroupCore.Groups.Peers;

/// <summary>
/// Messages being handled, in the order of their events, by a number that no two of a group share: a handler's send names its message by
/// it, and one that comes late names nothing. They end in any order.
/// </summary>
internal sealed class HandlingTable(ulong first)
{
    private Handling[] _ring = [];
    private ulong _first = first;
    private ulong _unhandled = first;

    /// <summary>Number of the next one; never 0.</summary>
    public ulong Next { get; private set; } = first;

    /// <summary>The oldest that may be open.</summary>
    public ulong First => _first;

    public bool HasUnhandled => _unhandled != Next;

    public ref Handling this[ulong number] => ref _ring[number & (ulong)(_ring.Length - 1)];

    public bool IsOpen(ulong number) => number - _first < Next - _first && this[number].Open;

    /// <summary>Whether what is sent in it belongs to it: somebody waits for it, and so for what its handler sends.</summary>
    public bool IsAwaited(ulong number) => IsOpen(number) && this[number].Rank != Handling.Nobody;

    public ulong Add(in Handling handling)
    {
        if (Next - _first == (ulong)_ring.Length)
        {
            var larger = new Handling[Math.Max(16, _ring.Length * 2)];
            for (ulong number = _first; number != Next; number++) larger[number & (ulong)(larger.Length - 1)] = this[number];
            _ring = larger;
        }
        this[Next] = handling;
        return Next++;
    }

    /// <summary>The next one whose event lies before <paramref name="events"/> and is not marked as handled yet; marks it.</summary>
    public bool TryHandle(long events, out ulong number)
    {
        number = _unhandled;
        if (_unhandled == Next || this[_unhandled].Event >= events) return false;
        this[_unhandled++].Handled = true;
        return true;
    }

    /// <summary>Gives back what it does not need when it is empty.</summary>
    public void Trim()
    {
        if (Next == _first) _ring = [];
    }

    public void Close(ulong number)
    {
        this[number] = default;
        while (_first != Next && !this[_first].Open) _first++;
    }
}
