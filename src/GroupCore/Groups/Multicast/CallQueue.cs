using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// Callers' multicasts and stability waits, in the order of the calls. They wait for room in the window, and while the member is blocked or wedged; what waits at the
/// wedge is sent in the next view (views-and-flush.md#what-it-guarantees). On the loop; lives as long as the membership.
/// </summary>
internal sealed class CallQueue(INode node, PendingCalls pending)
{
    private readonly Queue<object> _calls = new();

    public int Count => _calls.Count;

    public void Add(SendOperation call) => _calls.Enqueue(call);

    public void Add(StabilityWait call) => _calls.Enqueue(call);

    /// <summary>Sends what the window and the links let through.</summary>
    public void Drain(ViewMulticast multicast)
    {
        while (_calls.TryPeek(out object? next))
        {
            if (next is StabilityWait wait) multicast.AddStabilityWait(wait);
            else if (!TryTransmit((SendOperation)next, multicast)) return;
            _calls.Dequeue();
        }
    }

    private bool TryTransmit(SendOperation call, ViewMulticast multicast)
    {
        if (pending.TryCancel(call)) return true;
        int length = call.Payload.Length;
        do
        {
            int size = Math.Min(length - call.Sent, GroupLimits.FragmentBytes);
            var kind = call.Kind | (call.Sent == 0 ? MessageKind.First : MessageKind.None) | (call.Sent + size == length ? MessageKind.Last : MessageKind.None);
            int record = MessageRecord.HeadOf(kind) + size;
            if (!multicast.MaySend(record)) return false;
            // Stability returns the window of every record, so what the caller did not take is taken here.
            if (!call.Charged) pending.TakeCredit(GroupLimits.Cost(record));
            multicast.Append(kind, call.Handler, call.Payload.Written.Slice(call.Sent, size));
            call.Sent += size;
        }
        while (call.Sent < length);
        if ((call.Kind & MessageKind.Ordered) == MessageKind.None)
        {
            pending.Finish(call);
            return true;
        }
        pending.Budget.Return(length, null, node.Now);
        if (call.Detached) call.Recycle();
        else multicast.AwaitOrdered(call);
        return true;
    }

    /// <summary>A new view begins: a message that was sent in part is sent again as a whole, as its parts were delivered nowhere
    /// (multicast.md#a-large-message-is-whole-or-not-at-all).</summary>
    public void Restart()
    {
        if (_calls.TryPeek(out object? next) && next is SendOperation call) call.Sent = 0;
    }

    /// <summary>Removes calls whose callers do not wait any more.</summary>
    public void RemoveCancelled()
    {
        for (int count = _calls.Count; count > 0; count--)
        {
            object call = _calls.Dequeue();
            if (call is StabilityWait { IsCancelled: true } || (call is SendOperation send && pending.TryCancel(send))) continue;
            _calls.Enqueue(call);
        }
    }

    /// <summary>The membership is over for callers.</summary>
    public void Fail(Exception reason)
    {
        while (_calls.TryDequeue(out object? next))
        {
            if (next is StabilityWait wait) pending.Fail(wait, reason);
            else pending.Fail((SendOperation)next, reason);
        }
    }

    /// <summary>The node ends.</summary>
    public void Abandon(Exception reason) => pending.Abandon(_calls, reason);

    /// <summary>Releases memory that grew.</summary>
    public void Trim()
    {
        if (_calls.Count == 0) _calls.TrimExcess();
    }
}
