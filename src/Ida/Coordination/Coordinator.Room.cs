namespace Ida.Coordination;

/// <summary>
/// Operations wait for room on a link, and are tried again. A member whose link has no room is sent nothing that
/// carries keys or values; the operation keeps its place in the order and goes out when there is room, like all operations after a view change.
/// </summary>
internal sealed partial class Coordinator
{
    private const int MostRefusals = 8;
    private const long RetryDelay = 2_000_000, MostRetryDelay = 500_000_000, RetryStep = 5_000_000;

    // Whether an operation has waited since a member last had room; whether held room was released.
    private bool _someAwait, _released;

    /// <summary>A member's link has room again: the waiting operations go out in their order.</summary>
    public void OnRoom()
    {
        if (!_someAwait) return;
        IssueAwaiting();
        AdmitWaiting();
    }

    private void IssueAwaiting()
    {
        _admitting = true;
        do
        {
            _someAwait = _released = false;
            for (ClientOperation? op = _open.InFlight.First, next; op is not null; op = next)
            {
                next = op.Next;
                if (op.RetryAt == ClientOperation.AwaitsRoom || op.IsDue) Issue(op);
            }
        }
        while (_released);
        _admitting = false;
    }

    /// <summary>Counts bytes of values in an answer.</summary>
    public void CountAnswer(ClientOperation op, int bytes) => _open.Shares.Count(op, bytes);

    /// <summary>Whether too much waits already for the member for which the operation would wait.</summary>
    private bool WaitsTooLong(ClientOperation op) => _open.Parked.Count > 0 && _state.Acts && _state.Map is { } map
        && (MustAskWhetherGiven(op) ? _state.OwnerOf(op.Id.Session) : _routes.BlockedBy(op, map)) is >= 0 and var rank && !_open.MayPark(op, rank);

    /// <summary>
    /// Tries again after a refusal, for example by a member that waits for its state, which may take long. Each attempt carries the values, so the delays
    /// grow, until <see cref="OnMemberInitialised"/>. With small bounds, attempts of one put through two members may keep each other from being taken: the
    /// delays differ by rank, or that would go on for ever.
    /// </summary>
    public void RetryApart(ClientOperation op)
    {
        if (op.RetryAt == ClientOperation.AwaitsRoom) return;
        op.RetryAt = _state.Node.Now + Math.Min(RetryDelay << op.Refusals, MostRetryDelay) + (RetryStep * (op.Attempt * ((2L * _state.Rank) + 1) % 16));
        op.Refusals = Math.Min(op.Refusals + 1, MostRefusals);
    }

    /// <summary>
    /// A takeover made a participant reject this very attempt; that does not affect the next attempt. But a replica may reject all attempts up to
    /// some number of any older put (<see cref="Ordering.Session"/>), and does not say which number: so the steps grow.
    /// </summary>
    public void RetryAbove(ClientOperation op)
    {
        if (op.Refusals == 0)
        {
            op.Refusals = 1;
            Issue(op);
            return;
        }
        op.Attempt += 4U << op.Refusals;
        RetryApart(op);
    }

    private void RetryLater(ClientOperation op)
    {
        // An operation that waits for room begins anew in any case.
        if (op.RetryAt != ClientOperation.AwaitsRoom) op.RetryAt = _state.Node.Now + RetryDelay;
    }

    /// <summary>A member has got its state: tries again the operations that were refused.</summary>
    public void OnMemberInitialised()
    {
        for (var op = _open.InFlight.First; op is not null; op = op.Next)
        {
            if (op.Refusals == 0) continue;
            op.Refusals = 0;
            if (op.RetryAt is not (0 or ClientOperation.AwaitsRoom)) op.RetryAt = _state.Node.Now;
        }
    }

    /// <summary>The operation waits for room on this member's link, or until the member installs the view.</summary>
    private void AwaitRoom(ClientOperation op, int rank)
    {
        _routes.Hold(op, rank);
        _someAwait = true;
        op.RetryAt = ClientOperation.AwaitsRoom;
        if (_open.MayPark(op, rank)) _open.Park(op, rank);
        else if (op.Phase == OperationPhase.Admitted) Refuse(op, _errors.Overloaded(op));
    }

    private void EndHold(ClientOperation op) => _released |= _routes.EndHold(op);
}
