using System.Diagnostics.CodeAnalysis;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// By receiver: messages that it has not handled, and calls that wait because there are too many of these. A full receiver holds up no messages to others.
/// In a large group a member talks to few others, so there is an entry only where something is or was under way.
/// </summary>
internal sealed class PeerWindows(INode node, int members)
{
    private OutQueue?[] _out = [];
    private CallLine?[] _waiting = [];

    /// <summary>Messages that are not handled yet (R7).</summary>
    public int Outstanding { get; private set; }

    /// <summary>Calls that wait.</summary>
    public int Waiting { get; private set; }

    public bool Awaits(int rank) => CountOf(rank) > 0;

    /// <summary>How many messages a member has not handled yet.</summary>
    public int CountOf(int rank) => _out.Length > 0 && _out[rank] is { } queue ? queue.Count : 0;

    /// <summary>How many of the messages sent to a member are over.</summary>
    public long ClosedOf(int rank) => _out.Length > 0 && _out[rank] is { } queue ? queue.Closed : 0;

    /// <summary>Whether a member has not handled what a link to it may have lost.</summary>
    public bool AwaitsLost(int rank) => _out.Length > 0 && _out[rank] is { AwaitsLost: true };

    public void OnLinkLost(int rank)
    {
        if (_out.Length > 0) _out[rank]?.OnLinkLost();
    }

    public bool IsFull(int rank) => _out.Length > 0 && _out[rank] is { } queue && (queue.Count >= GroupLimits.PeerOutstanding || queue.Bytes >= GroupLimits.PeerOutstandingBytes);

    public bool HasWaiting(int rank) => _waiting.Length > 0 && _waiting[rank] is { Count: > 0 };

    /// <summary>Counts a message that is sent now; returns its number.</summary>
    public uint Add(int rank, ulong parent, int bytes)
    {
        if (_out.Length == 0) _out = new OutQueue?[members];
        Outstanding++;
        return (_out[rank] ??= new()).Add(parent, bytes);
    }

    /// <summary>A message of a handler leaves: until it is handled it counts in the share of its receiver.</summary>
    public void Owe(int rank, uint id, PeerShare? share)
    {
        if (share is not null) _out[rank]!.Owe(id, share);
    }

    /// <summary>The view is over: nobody waits for what is not handled.</summary>
    public void Close()
    {
        foreach (var queue in _out)
            while (queue?.TryCloseFirst(node.Now, out _) == true) Outstanding--;
    }

    /// <summary>A message is handled, or its receiver is gone; false when it is not under way.</summary>
    public bool TryClose(int rank, uint id, out ulong parent)
    {
        parent = 0;
        if (_out.Length == 0 || _out[rank] is not { } queue || !queue.TryClose(id, node.Now, out parent)) return false;
        Outstanding--;
        return true;
    }

    /// <summary>Whether a message is one of the last <paramref name="count"/> that were given a number for a receiver.</summary>
    public bool IsAmongLast(int rank, uint id, int count) => _out.Length > 0 && _out[rank] is { } queue && queue.IsAmongLast(id, count);

    public bool TryCloseFirst(int rank, out ulong parent)
    {
        parent = 0;
        if (_out.Length == 0 || _out[rank] is not { } queue || !queue.TryCloseFirst(node.Now, out parent)) return false;
        Outstanding--;
        return true;
    }

    public void Wait(int rank, SendOperation call)
    {
        if (_waiting.Length == 0) _waiting = new CallLine?[members];
        (_waiting[rank] ??= new()).Enqueue(call);
        Waiting++;
    }

    public bool TryPeek(int rank, [NotNullWhen(true)] out SendOperation? call)
    {
        call = null;
        return _waiting.Length > 0 && _waiting[rank] is { } line && line.TryPeek(out call);
    }

    /// <summary>The first call that waits for a receiver is sent or ended.</summary>
    public void Dequeue(int rank)
    {
        _waiting[rank]!.Dequeue();
        Waiting--;
    }

    /// <summary>Takes the first of the handlers' calls that wait for a receiver; its caller was told that it has completed.</summary>
    public bool TryDequeueOfHandlers(int rank, [NotNullWhen(true)] out SendOperation? call)
    {
        call = null;
        if (_waiting.Length == 0 || _waiting[rank] is not { } line || !line.TryDequeueOfHandlers(out call)) return false;
        Waiting--;
        return true;
    }

    /// <summary>Takes all calls that wait, for the next view or to fail.</summary>
    public List<SendOperation> TakeWaiting()
    {
        var calls = new List<SendOperation>(Waiting);
        foreach (var line in _waiting)
        {
            while (line is not null && line.TryPeek(out var call))
            {
                calls.Add(call);
                line.Dequeue();
            }
        }
        Waiting = 0;
        return calls;
    }

    /// <summary>Releases memory that it does not need.</summary>
    public void Trim()
    {
        foreach (var queue in _out) queue?.Trim();
        if (Waiting == 0) _waiting = [];
    }

    /// <summary>Ends the waiting calls whose callers do not wait any more.</summary>
    public void RemoveCancelled(PendingCalls calls)
    {
        foreach (var line in _waiting) Waiting -= line?.RemoveCancelled(calls) ?? 0;
    }
}
