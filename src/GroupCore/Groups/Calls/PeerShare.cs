using GroupCore.Membership;

namespace GroupCore.Groups.Calls;

/// <summary>
/// What calls to one receiver take of the group's budget: never more than they leave for all others, and at most a fixed share for callers that can wait.
/// So a receiver that takes nothing, because it loads the group's state or is stuck, stops no calls to others, nor do several such receivers. Messages that handlers sent
/// without waiting for the receiver count until it has handled them, so that its queue holds a bounded number of them.
/// </summary>
internal sealed class PeerShare(ViewMember receiver)
{
    private CallLoad _load = new();
    // Messages that handlers sent and the receiver has not handled; the group's budget does not count them any more.
    private CallLoad _unhandled = new();

    public ProcessId Receiver => receiver.Id;

    public bool IsUsed => _load.Calls > 0 || _unhandled.Calls > 0;

    /// <summary>Counts a call; false, and nothing is counted, if that is too much.</summary>
    /// <param name="bytes">Size of the message.</param>
    /// <param name="canWait">Whether back-pressure reaches the caller: a handler's call is complete when it is queued.</param>
    /// <param name="callsLeft">Calls that are left in the group.</param>
    /// <param name="bytesLeft">Bytes that are left in the group.</param>
    public bool TryTake(int bytes, bool canWait, int callsLeft, long bytesLeft)
    {
        var (calls, held) = _load.Add(bytes);
        bool fits = calls <= callsLeft && held <= bytesLeft;
        if (fits && (canWait ? calls <= GroupLimits.ReceiverCalls && held <= GroupLimits.ReceiverBytes
            : calls + _unhandled.Calls <= GroupLimits.HandlersCalls && held + _unhandled.Bytes <= GroupLimits.HandlersBytes)) return true;
        _load.Remove(bytes);
        return false;
    }

    public void TakeBack(int bytes) => _load.Remove(bytes);

    /// <summary>A call was sent or has failed; on the loop.</summary>
    public void Return(int bytes, long now) => _load.End(bytes, now);

    /// <summary>A handler's message is sent without waiting for what the receiver has not handled; on the loop.</summary>
    public void Sent(int bytes) => _unhandled.Add(bytes);

    /// <summary>The receiver has handled such a message, or is gone; on the loop.</summary>
    public void Handled(int bytes, long now) => _unhandled.End(bytes, now);

    /// <summary>Why a call was refused. Unhandled messages of handlers count against handlers alone, so callers that can wait are told of waiting calls only.</summary>
    public SendQueueFullException Full(string group, int bytes, bool canWait)
    {
        bool unhandled = !canWait && _unhandled.Calls > _load.Calls;
        return new(group, _load.Calls + (canWait ? 0 : _unhandled.Calls), unhandled
            ? $"{receiver.Address} has not handled {_unhandled.Calls} messages with {_unhandled.Bytes} bytes that handlers of this member sent it in group '{group}': send it more when it has handled some."
            : $"{_load.Calls} calls with {_load.Bytes} bytes already wait to send to {receiver.Address} in group '{group}', and that member takes none at present: await these calls before you send it more.")
        {
            Receiver = receiver.Address,
            RetryAfter = unhandled ? _unhandled.TimeToRoom(bytes) : _load.TimeToRoom(bytes),
        };
    }
}
