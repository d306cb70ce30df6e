using Ida.Ordering;

namespace Ida.Coordination;

/// <summary>
/// A member as coordinator of its callers' operations: takes calls within their bounds (<see cref="OpenCalls"/>), sends each to its participants (<see cref="Coordination.Attempts"/> takes their
/// answers), and answers the caller when the operation is stable. Source: dht-order.md#the-normal-case, #outcomes-are-forgotten-when-acknowledged, #limits.
/// </summary>
/// <remarks>
/// A caller never sees a view change: at an install every unanswered operation is issued again under the same logical id, and a participant that has executed it answers <c>Executed</c>.
/// </remarks>
internal sealed partial class Coordinator : ICalls
{
    private readonly DhtState _state;
    private readonly IRequests _send;
    private readonly Participant _participant;
    private readonly OpenCalls _open;
    private readonly Routes _routes;
    private readonly CallFailures _errors;
    private readonly Dictionary<OperationId, ClientOperation> _pending = [];
    private bool _admitting;
    private Exception? _over;

    public Coordinator(DhtState state, IRequests send, Participant participant, CommitGarbageCollection collection)
    {
        (_state, _send, _participant) = (state, send, participant);
        Puts = new(state);
        _open = new(state, Puts);
        _routes = new(state);
        _errors = new(state, _open, _routes);
        Attempts = new(state, send, participant, collection, Puts, _open, _errors, this);
        Attempts.Takeovers = Takeovers = new(state, send, participant, Attempts, _routes);
    }

    /// <summary>Gets the answers of participants.</summary>
    public Attempts Attempts { get; }

    public Takeovers Takeovers { get; }

    /// <summary>The numbers of this member's session, and the puts that are open.</summary>
    public OpenPuts Puts { get; }

    /// <summary>Whether any operation here needs the tick.</summary>
    public bool HasWork => _open.InFlight.Count > 0 || _open.Waiting.Count > 0 || Takeovers.Count > 0;

    /// <summary>Number of operations of this member's callers that are on their way; below, of those that wait for a place.</summary>
    public int InFlight => _open.InFlight.Count;

    public int WaitingCount => _open.Waiting.Count;

    /// <summary>An id for a later put. From any thread.</summary>
    public OperationId NewOperation() => new(_state.Session, Puts.Numbers.Take());

    /// <summary>Takes a caller's operation.</summary>
    public void Start(ClientOperation op)
    {
        if (_over is { } over)
        {
            Finish(op, op.AtEnd(over, _errors.LastView));
            return;
        }
        if (op.CancelRequested)
        {
            Finish(op, new OperationCanceledException());
            return;
        }
        if (!op.Kind.Changes && op.PartCount == 1 && TryReadHere(op)) return;
        // The process may have been frozen after the turn began, with the call made only after that.
        op.Deadline = op.Timeout == ClientOperation.Unlimited ? long.MaxValue : _state.Node.Clock() + op.Timeout;
        if (op.Requested is { } requested && !MayBegin(op, requested)) return;
        if (_state.Node.Links.IsFull || WaitsTooLong(op)) Refuse(op, _errors.Overloaded(op));
        else if (!_open.Queues(op) && _open.HasPlace(op)) Admit(op);
        else if (_open.MayWait(op)) Wait(op);
        else Refuse(op, _errors.Overloaded(op));
    }

    /// <summary>The caller gave up. An operation still on its way here finds the mark when it arrives; one that has ended stays so.</summary>
    public void Cancel(ClientOperation op)
    {
        if (op.Phase is OperationPhase.Waiting or OperationPhase.Following or OperationPhase.Admitted or OperationPhase.Sent) GiveUp(op, new OperationCanceledException());
    }

    /// <summary>A view was installed: every unanswered operation begins again.</summary>
    public void BeginView()
    {
        _admitting = true;
        Attempts.Clear();
        Puts.ReleaseEarly();
        // Ranks have changed.
        _routes.EndHold();
        for (var op = _open.InFlight.First; op is not null; op = op.Next) _open.Parked.Attribute(op, -1);
        for (ClientOperation? op = _open.InFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            op.Running = null;
            op.Refusals = 0;
            Issue(op);
        }
        _admitting = false;
        AdmitWaiting();
    }

    /// <summary>The DHT is over for this member: everything ends with <paramref name="reason"/>.</summary>
    public void End(Exception reason)
    {
        _over = reason;
        Attempts.Clear();
        // Not a loop until the list is empty: after a fault in a turn, an operation may be in a list that does not match its phase.
        for (ClientOperation? op = _open.InFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            // The flush may commit a put that was sent. After a depopulation no member is left to ask.
            bool unknown = op is { Kind.Changes: true, Phase: not OperationPhase.Admitted } && reason is not ShardDepopulatedException;
            Finish(op, unknown ? new OutcomeUnknownException(op.Id, reason.Message, reason) { View = _errors.LastView } : op.AtEnd(reason, _errors.LastView));
        }
        FinishAll(_open.Waiting.FirstPut, reason);
        FinishAll(_open.Waiting.FirstRead, reason);
    }

    /// <summary>The DHT is over, and every call has ended: drops known outcomes and the pools.</summary>
    public void Forget()
    {
        Puts.ReleaseEarly();
        Attempts.ForgetFree();
        _known.Clear();
        Puts.Numbers.Release();
    }

    private void FinishAll(ClientOperation? first, Exception reason)
    {
        for (ClientOperation? op = first, next; op is not null; op = next)
        {
            next = op.Next;
            Finish(op, op.AtEnd(reason, _errors.LastView));
        }
    }

    /// <summary>Deadlines, retries and takeovers.</summary>
    public void Tick(long now)
    {
        _released |= _routes.EndLongHold(now);
        _admitting = true;
        for (ClientOperation? op = _open.InFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            if (op.Follower is { } follower) CheckCaller(follower, now);
            if (op.Phase != OperationPhase.Detached && CheckCaller(op, now)) continue;
            if (op.RetryAt == 0 || now < op.RetryAt) continue;
            if (op.Asks && _state.Acts) AskHowItEnded(op);
            else Issue(op);
        }
        CheckCallers(_open.Waiting.FirstPut, now);
        CheckCallers(_open.Waiting.FirstRead, now);
        _admitting = false;
        AdmitWaiting();
        _open.Measure();
        Takeovers.TakeOverStalled(now);
    }

    private void CheckCallers(ClientOperation? first, long now)
    {
        for (ClientOperation? op = first, next; op is not null; op = next)
        {
            next = op.Next;
            CheckCaller(op, now);
        }
    }

    /// <summary>Ends the call of a caller that gave up or whose time is over; true when nothing is left to do for it.</summary>
    private bool CheckCaller(ClientOperation op, long now)
    {
        if (op.CancelRequested) GiveUp(op, new OperationCanceledException());
        else if (now >= op.Deadline) GiveUp(op, _errors.Late(op));
        return op.Phase == OperationPhase.Finished;
    }

    private bool TryReadHere(ClientOperation op)
    {
        ref var part = ref op.Parts[0];
        if (!_state.Initialised || part.Shard != _state.Shard || !_state.Acts || part.Uses.LackedBy is not null || _open.Queues(op)) return false;
        if (!_participant.Reads.TryRead(op.KeyOf(0), part.Place, out part.Value, out part.Version)) return false;
        _state.Counters.CountLocalRead();
        Finish(op, null);
        return true;
    }

    private void Wait(ClientOperation op)
    {
        if (!op.Move(OperationPhase.Waiting)) return;
        // So another retry of the same put finds this one.
        if (op.Requested is not null) _pending.Add(op.Id, op);
        Puts.Wait(op);
        _open.Enqueue(op);
    }

    private void Admit(ClientOperation op)
    {
        bool waited = op.Phase == OperationPhase.Waiting;
        if (!op.Move(OperationPhase.Admitted)) return;
        if (waited) _open.Dequeue(op);
        op.PutsBefore = Puts.Numbers.Puts;
        if (op.Requested is null) Name(op);
        if (!waited && op.Requested is not null) _pending.Add(op.Id, op);
        _open.InFlight.Add(op);
        Puts.Begin(op);
        _open.Shares.Take(op);
        Issue(op);
    }

    /// <summary>
    /// Participants take the oldest open put however little room they have, so that it can end and outcomes can be forgotten. If it waits for a place here, it gets one beyond the bound:
    /// the puts that have the places may all be refused until it ends.
    /// </summary>
    public void AdmitOldest()
    {
        if (!_admitting && _over is null && Puts.FirstNamed is { Phase: OperationPhase.Waiting } oldest && oldest.Id.Sequence == Puts.AckedBelow()) Admit(oldest);
    }

    private void Name(ClientOperation op)
    {
        op.Id = new(_state.Session, Puts.Numbers.Next(op.Kind.Changes));
        _pending.Add(op.Id, op);
    }

    /// <summary>Waiting calls take free places. Not during a walk over the operations, and not nested.</summary>
    private void AdmitWaiting()
    {
        if (_admitting) return;
        if (_released && _over is null) IssueAwaiting();
        _admitting = true;
        while (_over is null && _open.NextWaiting() is { } next && _open.HasPlace(next)) Admit(next);
        _admitting = false;
    }

    /// <summary>Number of waiting calls looked at to find the next; for tests of that cost.</summary>
    internal long Looks => _open.Waiting.Looks;

    /// <summary>Every operation of a caller with the list in which it stands; for checks that each stands in one.</summary>
    internal IEnumerable<(OperationPhase Place, ClientOperation Op)> Standing()
    {
        for (var op = _open.InFlight.First; op is not null; op = op.Next)
        {
            yield return (op.IsInFlight && _pending.GetValueOrDefault(op.Id) == op ? op.Phase : OperationPhase.Free, op);
            if (op.Follower is { } follower) yield return (follower.Leader == op && op.Phase == OperationPhase.Detached ? OperationPhase.Following : OperationPhase.Free, follower);
        }
        for (var op = _open.Waiting.FirstPut; op is not null; op = op.Next) yield return (OperationPhase.Waiting, op);
        for (var op = _open.Waiting.FirstRead; op is not null; op = op.Next) yield return (OperationPhase.Waiting, op);
    }
}
