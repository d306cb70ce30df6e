using GroupCore.Groups.Queries;
using GroupCore.Runtime;

namespace GroupCore.Groups.Calls;

/// <summary>The calls of one group that are not over: what they take of the group's budget and of the window, and how they end. On the loop, unless stated otherwise.</summary>
internal sealed class PendingCalls(INode node, string group, QueryTable queries)
{
    private long _credit = GroupLimits.Window;

    /// <summary>The calls on their way to the loop or waiting.</summary>
    public CallBudget Budget { get; } = new(group, node.Links.Quota);

    /// <summary>Each receiver's share of these calls.</summary>
    public PeerShares Shares { get; } = new();

    /// <summary>Whether a message has failed although its caller was told that it is sent.</summary>
    public bool HasLost { get; private set; }

    /// <summary>The part of the window that nobody has taken.</summary>
    public long Credit => Volatile.Read(ref _credit);

    /// <summary>From any thread: takes window for one message, so that its call completes at once.</summary>
    public bool TryTakeCredit(long cost)
    {
        if (Volatile.Read(ref _credit) < cost) return false;
        if (Interlocked.Add(ref _credit, -cost) >= 0) return true;
        Interlocked.Add(ref _credit, cost);
        return false;
    }

    /// <summary>Takes window that the caller did not take, for one record that is sent.</summary>
    public void TakeCredit(long cost) => Interlocked.Add(ref _credit, -cost);

    /// <summary>From any thread.</summary>
    public void ReturnCredit(long cost) => Interlocked.Add(ref _credit, cost);

    /// <summary>The loop no longer needs a call: its bytes are sent, or it failed.</summary>
    public void Finish(SendOperation call)
    {
        Budget.Return(call.Payload.Length, call.Share, node.Now);
        if (call.Detached) call.Recycle();
        else node.Complete(call);
    }

    /// <summary>Ends a call of which nothing is sent, if its caller does not wait any more.</summary>
    public bool TryCancel(SendOperation call)
    {
        if (call.Sent != 0) return false;
        // A query whose caller has gone, or whose time is over, asks nobody.
        bool unasked = call.Query != 0 && !queries.IsOpen(call.Query);
        if (!unasked && (call.Detached || !call.IsCancelled)) return false;
        if (!unasked) call.Error = new OperationCanceledException(call.CancelledBy);
        Finish(call);
        return true;
    }

    public void Fail(SendOperation call, Exception reason)
    {
        // The caller of a detached call was told that it is sent.
        HasLost |= call is { Detached: true, Query: 0 };
        call.Error = reason;
        Finish(call);
    }

    public void Fail(List<SendOperation> calls, Exception reason)
    {
        foreach (var call in calls) Fail(call, reason);
    }

    public void Fail(StabilityWait call, Exception reason)
    {
        call.Error = reason;
        node.Complete(call);
    }

    /// <summary>The node ends: only callers that wait are told. A turn that threw may have left a call in two places, so no call is used again.</summary>
    public void Abandon(IEnumerable<object> calls, Exception reason)
    {
        foreach (object call in calls)
        {
            if (call is StabilityWait wait) wait.Error = reason;
            else if (call is SendOperation { Detached: false } send) send.Error = reason;
            else continue;
            node.Complete((ICompletion)call);
        }
    }
}
