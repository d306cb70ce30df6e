namespace GroupCore.Groups.Peers;

/// <summary>
/// Messages being handled, in the order of their events, by a number that no two of a group share: a handler's send names its message by
/// it, and one that comes late names nothing. They end in any order.
/// </summary>
internal sealed class HandlingTable(ulong first)
{
    private readonly OpenRing<Handling> _open = new(first);
    private ulong _unhandled = first;

    /// <summary>Number of the next one; never 0.</summary>
    public ulong Next => _open.Next;

    /// <summary>Those that it has places for; for checks.</summary>
    public int Places => _open.Places;

    public bool HasUnhandled => _unhandled != Next;

    /// <summary>One that is open.</summary>
    public ref Handling this[ulong number] => ref _open[number];

    public bool IsOpen(ulong number) => _open.IsOpen(number);

    /// <summary>Whether what is sent in it belongs to it: somebody waits for it, and so for what its handler sends.</summary>
    public bool IsAwaited(ulong number) => IsOpen(number) && this[number].Rank != Handling.Nobody;

    public ulong Add(in Handling handling) => _open.Add(handling);

    /// <summary>The next one whose event lies before <paramref name="events"/> and is not marked as handled yet; marks it.</summary>
    public bool TryHandle(long events, out ulong number)
    {
        number = _unhandled;
        if (_unhandled == Next) return false;
        ref var handling = ref this[number];
        if (handling.Event >= events) return false;
        handling.Handled = true;
        _unhandled++;
        return true;
    }

    /// <summary>Goes on to the first open one from that number on; false for none.</summary>
    public bool TryNext(ref ulong number) => _open.TryNext(ref number);

    /// <summary>Gives back what it does not need.</summary>
    public void Trim() => _open.Trim();

    public void Close(ulong number) => _open.Close(number);
}
