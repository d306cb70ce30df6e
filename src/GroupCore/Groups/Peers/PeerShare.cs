using GroupCore.Groups.Multicast;
using GroupCore.Membership;

namespace GroupCore.Groups.Peers;

/// <summary>
/// What the calls to one receiver take of their group's budget: no more than they leave for all others, and those of callers who can wait at most
/// a fixed share. So a receiver that takes nothing, since it loads the group's state or is stuck, stops no calls to others, nor do several of them.
/// </summary>
internal sealed class PeerShare(ViewMember receiver)
{
    private CallLoad _load = new();

    public ProcessId Receiver => receiver.Id;

    public bool IsUsed => _load.Calls > 0;

    /// <summary>Counts a call; false, and it is not counted, when that is too much.</summary>
    /// <param name="bytes">Of the message.</param>
    /// <param name="canWait">Whether back-pressure reaches the caller: a handler's call is complete when it is queued.</param>
    /// <param name="callsLeft">What is left in the group.</param>
    /// <param name="bytesLeft">What is left in the group.</param>
    public bool TryTake(int bytes, bool canWait, int callsLeft, long bytesLeft)
    {
        var (calls, held) = _load.Add(bytes);
        bool fits = calls <= callsLeft && held <= bytesLeft;
        if (fits && (!canWait || (calls <= GroupLimits.ReceiverCalls && held <= GroupLimits.ReceiverBytes))) return true;
        _load.Remove(bytes);
        return false;
    }

    public void TakeBack(int bytes) => _load.Remove(bytes);

    /// <summary>A call is done with; on the loop.</summary>
    public void Return(int bytes, long now) => _load.End(bytes, now);

    public SendQueueFullException Full(string group, int bytes) => new(group, _load.Calls,
        $"{_load.Calls} calls with {_load.Bytes} bytes already wait to send to {receiver.Address} in group '{group}', which takes none: await them before you send it more.")
    {
        Receiver = receiver.Address,
        RetryAfter = _load.TimeToRoom(bytes),
    };
}
