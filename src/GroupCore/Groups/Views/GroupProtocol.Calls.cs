using GroupCore.Basics;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.PointToPoint;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>Callers' multicasts: accepted while the window has room, queued in order otherwise and while wedged (G4: then they are sent in the next view).</summary>
internal sealed partial class GroupProtocol
{
    private readonly Queue<object> _calls = new();
    private long _credit = GroupLimits.Window;
    private int _lookPosted;

    /// <summary>From any thread: takes window for one message, so that its call completes at once.</summary>
    public bool TryTakeCredit(long cost)
    {
        if (Volatile.Read(ref _credit) < cost) return false;
        if (Interlocked.Add(ref _credit, -cost) >= 0) return true;
        Interlocked.Add(ref _credit, cost);
        return false;
    }

    public void ReturnCredit(long cost) => Interlocked.Add(ref _credit, cost);

    /// <summary>Stability opened the window at the end of a turn, after the waiting calls were looked at: asks for another turn, as perhaps nothing else does.</summary>
    public void OnWindowOpened()
    {
        if (_calls.Count > 0) Touch();
    }

    /// <summary>The calls on their way to the loop or waiting.</summary>
    public CallBudget Budget { get; }

    /// <summary>What of them is for each receiver.</summary>
    public PeerShares Shares { get; } = new();

    /// <summary>The error with which calls end when the membership is over, null before; not always what ended it, which <see cref="Completion"/> tells.</summary>
    public Exception? CallError => _over is { } reason ? CallErrorOf(reason) : null;

    private Exception CallErrorOf(Exception reason) =>
        reason is NodeStoppedException or ExcludedException or NotMemberException ? reason : new NotMemberException(Name, reason.Message.TrimEnd('.'));

    /// <summary>
    /// A member that is leaving sends nothing more, except from its hooks and from its handlers of messages to it alone, for which others' hooks may wait:
    /// it takes part in the view change like those that stay.
    /// </summary>
    public void ThrowIfOver(bool awaited = false)
    {
        if (CallError is { } error) throw ISharedError.ForCall(error);
        if (_life.IsGoing && !awaited) throw new NotMemberException(Name, "it is leaving");
    }

    /// <summary>A caller's message, on the loop.</summary>
    public void Take(SendOperation call)
    {
        Touch();
        if (CallError is { } error)
        {
            Fail(call, error);
        }
        // A token that fired before the call arrived here found nothing to end.
        else if (TryCancel(call)) return;
        else if (call.To is null) _calls.Enqueue(call);
        // At a member that is leaving, what such a handler sends goes at once or not at all: nothing is added to what is sent before it leaves.
        else Peers.Take(call, mayWait: !(IsGoing && call.Parent != 0));
    }

    public void Take(StabilityWait call)
    {
        Touch();
        if (CallError is { } error)
        {
            call.Error = error;
            Node.Complete(call);
        }
        else _calls.Enqueue(call);
    }

    /// <summary>The loop needs a call no longer: its bytes are sent, or it failed.</summary>
    public void Finish(SendOperation call)
    {
        Budget.Return(call.Payload.Length, call.Share, Node.Now);
        if (call.Detached) call.Recycle();
        else Node.Complete(call);
    }

    private void DrainCalls()
    {
        if (IsWedged || _blocked || !Initialised) return;
        while (_calls.TryPeek(out object? next))
        {
            if (next is StabilityWait wait) Multicast.AddStabilityWait(wait);
            else if (!TryTransmit((SendOperation)next)) return;
            _calls.Dequeue();
        }
    }

    private bool TryTransmit(SendOperation call)
    {
        if (TryCancel(call)) return true;
        int length = call.Payload.Length;
        do
        {
            int size = Math.Min(length - call.Sent, GroupLimits.FragmentBytes);
            var kind = call.Kind | (call.Sent == 0 ? MessageKind.First : MessageKind.None) | (call.Sent + size == length ? MessageKind.Last : MessageKind.None);
            int record = MessageRecord.HeadOf(kind) + size;
            if (!Multicast.MaySend(record)) return false;
            // Stability returns the window of every record, so what the caller did not take is taken here.
            if (!call.Charged) Interlocked.Add(ref _credit, -GroupLimits.Cost(record));
            Multicast.Append(kind, call.Handler, call.Payload.Written.Slice(call.Sent, size));
            call.Sent += size;
        }
        while (call.Sent < length);
        if ((call.Kind & MessageKind.Ordered) == MessageKind.None)
        {
            Finish(call);
            return true;
        }
        Budget.Return(length, null, Node.Now);
        if (call.Detached) call.Recycle();
        else Multicast.AwaitOrdered(call);
        return true;
    }

    /// <summary>A new view: a message that was sent in part goes again as a whole; its parts were delivered nowhere
    /// (multicast.md#a-large-message-is-whole-or-not-at-all).</summary>
    private void RestartCalls()
    {
        if (_calls.TryPeek(out object? next) && next is SendOperation call) call.Sent = 0;
    }

    /// <summary>Ends a call of which nothing is sent, if its caller does not wait any more.</summary>
    public bool TryCancel(SendOperation call)
    {
        if (call.Sent != 0) return false;
        // A query whose caller has gone, or whose time is over, asks nobody.
        bool unasked = call.Query != 0 && !Queries.IsOpen(call.Query);
        if (!unasked && (call.Detached || !call.IsCancelled)) return false;
        if (!unasked) call.Error = new OperationCanceledException(call.CancelledBy);
        Finish(call);
        return true;
    }

    /// <summary>From any thread: a token fired for some queued call. One look serves all tokens that fired before it.</summary>
    public void PostCancelled()
    {
        if (Interlocked.Exchange(ref _lookPosted, 1) == 0) Post(new CallCommand(RemoveCancelled));
    }

    /// <summary>From any thread: the caller of a query does not wait any more.</summary>
    public void PostQueryCancelled(ulong number, CancellationToken by) => Post(new CallCommand(() =>
    {
        Queries.Cancel(number, by);
        PostCancelled();
    }));

    private void RemoveCancelled()
    {
        Touch();
        Interlocked.Exchange(ref _lookPosted, 0);
        for (int count = _calls.Count; count > 0; count--)
        {
            object call = _calls.Dequeue();
            if (call is StabilityWait { IsCancelled: true } || (call is SendOperation send && TryCancel(send))) continue;
            _calls.Enqueue(call);
        }
        if (View is null) return;
        Peers.RemoveCancelled();
        Multicast.RemoveCancelled();
    }

    private void FailCalls(Exception reason)
    {
        while (_calls.TryDequeue(out object? next))
        {
            if (next is StabilityWait wait)
            {
                wait.Error = reason;
                Node.Complete(wait);
                continue;
            }
            Fail((SendOperation)next, reason);
        }
    }

    private void FailCalls(List<SendOperation> calls, Exception reason)
    {
        foreach (var call in calls) Fail(call, reason);
    }

    /// <summary>The node ends: only callers who wait are told. A turn that threw may have left a call in two places, so no call is used again.</summary>
    private void AbandonCalls(IEnumerable<object> calls, Exception reason)
    {
        foreach (object call in calls)
        {
            if (call is StabilityWait wait) wait.Error = reason;
            else if (call is SendOperation { Detached: false } send) send.Error = reason;
            else continue;
            Node.Complete((ICompletion)call);
        }
    }

    private void Fail(SendOperation call, Exception reason)
    {
        // Its caller was told that it is sent.
        _unsent |= call is { Detached: true, Query: 0 };
        call.Error = reason;
        Finish(call);
    }

    /// <summary>From any thread: posts a command, which waits for room if need be; abandoned on a node that has stopped.</summary>
    public void Post(NodeCommand command) => Node.Post(command);
}
