namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// Messages being handled, in the order of their events, each under a number that no other message of the group has. What a handler sends names the handled
/// message by that number; if the send comes late, the number names nothing. Messages end in any order.
/// </summary>
internal sealed class HandlingTable(ulong first)
{
    private readonly OpenRing<Handling> _open = new(first);
    private ulong _unhandled = first;

    /// <summary>Number of the next message; never 0.</summary>
    public ulong Next => _open.Next;

    /// <summary>How many messages it has places for; for checks.</summary>
    public int Places => _open.Places;

    public bool HasUnhandled => _unhandled != Next;

    /// <summary>An open message.</summary>
    public ref Handling this[ulong number] => ref _open[number];

    public bool IsOpen(ulong number) => _open.IsOpen(number);

    /// <summary>Whether a message is open and some member waits for it, and so for what its handler sends.</summary>
    public bool IsAwaited(ulong number) => IsOpen(number) && this[number].Rank != Handling.Nobody;

    public ulong Add(in Handling handling) => _open.Add(handling);

    /// <summary>Finds the next message that is not marked as handled, if its event lies before <paramref name="events"/>, and marks it.</summary>
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

    /// <summary>Goes on to the first open message from that number on; false for none.</summary>
    public bool TryNext(ref ulong number) => _open.TryNext(ref number);

    /// <summary>Releases memory that it does not need.</summary>
    public void Trim() => _open.Trim();

    public void Close(ulong number) => _open.Close(number);
}
