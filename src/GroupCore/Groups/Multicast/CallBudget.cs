using GroupCore.Groups.Peers;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// What the callers of one group have on its way to the loop or waiting there. Taken on any thread before a call is posted, returned on the loop
/// when it is sent or has failed.
/// </summary>
internal sealed class CallBudget(string group)
{
    private CallLoad _load = new();

    public int Calls => _load.Calls;

    public long Bytes => _load.Bytes;

    /// <summary>Counts a call, a point-to-point one in the share of its receiver too.</summary>
    /// <exception cref="SendQueueFullException">Too much waits already; nothing is counted.</exception>
    public void Take(int bytes, PeerShare? receiver, bool canWait)
    {
        var (calls, held) = _load.Add(bytes);
        bool fits = calls <= GroupLimits.QueuedCalls && held <= GroupLimits.QueuedBytes;
        if (fits && receiver?.TryTake(bytes, canWait, GroupLimits.QueuedCalls - calls, GroupLimits.QueuedBytes - held) != false) return;
        _load.Remove(bytes);
        throw fits ? receiver!.Full(group, bytes) : Full(bytes);
    }

    /// <summary>A call that the loop did not take.</summary>
    public void TakeBack(int bytes, PeerShare? receiver)
    {
        _load.Remove(bytes);
        receiver?.TakeBack(bytes);
    }

    /// <summary>A call is done with; on the loop.</summary>
    public void Return(int bytes, PeerShare? receiver, long now)
    {
        _load.End(bytes, now);
        receiver?.Return(bytes, now);
    }

    /// <summary>How the one is refused that would be a query too many.</summary>
    public SendQueueFullException TooManyQueries() => new(group, GroupLimits.Queries, $"{GroupLimits.Queries} queries of group '{group}' are open already: await them before you ask more.") { RetryAfter = _load.TimeToRoom(0) };

    private SendQueueFullException Full(int bytes) =>
        new(group, Calls, $"{Calls} calls with {Bytes} bytes already wait to send to group '{group}': await them before you send more.") { RetryAfter = _load.TimeToRoom(bytes) };
}
