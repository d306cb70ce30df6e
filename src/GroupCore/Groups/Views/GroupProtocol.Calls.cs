using GroupCore.Basics;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>Takes callers' messages to where they wait.</summary>
internal sealed partial class GroupProtocol
{
    private int _lookPosted;

    /// <summary>The error with which calls end once the membership is over, null before; not always what ended the membership, which <see cref="Completion"/> tells.</summary>
    public Exception? CallError => _over is { } reason ? CallErrorOf(reason) : null;

    private Exception CallErrorOf(Exception reason) =>
        reason is NodeStoppedException or ExcludedException or NotMemberException ? reason : new NotMemberException(Name, reason.Message.TrimEnd('.'));

    /// <summary>
    /// A member that is leaving sends nothing more, except from its hooks and from its handlers of point-to-point messages, for which others' hooks may wait:
    /// it takes part in the view change like members that stay.
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
            Calls.Fail(call, error);
        }
        // A token that fired before the call arrived here found nothing to end.
        else if (Calls.TryCancel(call)) return;
        else if (call.To is null) _queue.Add(call);
        // At a member that is leaving, what a handler of a point-to-point message sends goes at once or not at all: nothing is added to what is sent before it leaves.
        else Peers.Take(call, mayWait: !(IsGoing && call.Parent != 0));
    }

    public void Take(StabilityWait call)
    {
        Touch();
        if (CallError is { } error) Calls.Fail(call, error);
        else _queue.Add(call);
    }

    private void DrainCalls()
    {
        if (!IsWedged && !_blocked && Initialised) _queue.Drain(Multicast);
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
        _queue.RemoveCancelled();
        if (View is null) return;
        Peers.RemoveCancelled();
        Multicast.RemoveCancelled();
    }

    /// <summary>From any thread: posts a command, which waits for room if need be; abandoned on a node that has stopped.</summary>
    public void Post(NodeCommand command) => Node.Post(command);
}
