using Ida.Ordering;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>
/// A member as coordinator of its callers' operations: proposes, fixes the time as the maximum over all participants, and answers the
/// caller when the operation is stable. Source: dht-order.md#the-normal-case, #outcomes-are-forgotten-when-acknowledged, #limits.
/// </summary>
/// <remarks>
/// Fast path: if all proposals are equal and all are quiescent, nothing can get an earlier time any more and everything before is stable, so the
/// caller is answered after two delays. Otherwise participants acknowledge when they are quiescent. A caller never sees a view change: at an
/// install every unanswered operation is issued again under the same logical id, and a participant that has executed it answers <c>Executed</c>.
/// An attempt ends without effect only when a participant has said that it will never hold it.
/// </remarks>
internal sealed partial class Coordinator(DhtState state, IRequests send, Participant participant, CommitGarbageCollection collection)
{
    private const int WaitingFactor = 16;
    private const long RetryDelay = 2_000_000, MostRetryDelay = 500_000_000, RetryStep = 5_000_000;
    private readonly Dictionary<OperationId, ClientOperation> _pending = [];
    private readonly CoordinationTable _running = new();
    private readonly List<CoordinatedOperation> _takeovers = [];
    private readonly Stack<CoordinatedOperation> _free = [];
    private readonly List<CoordinatedOperation> _early = [];
    private readonly WaitingLine _waiting = new();
    private OperationList _inFlight;
    private bool _admitting;
    private Exception? _over;

    /// <summary>Whether any operation here needs the tick.</summary>
    public bool HasWork => _inFlight.Count > 0 || _waiting.Count > 0 || _takeovers.Count > 0;

    /// <summary>Operations of this member's callers that are on their way, and that wait for a place.</summary>
    public int InFlight => _inFlight.Count;

    public int WaitingCount => _waiting.Count;

    /// <summary>The numbers of this member's session.</summary>
    internal OperationNumbers Numbers { get; } = new();

    /// <summary>An id for a put to come, on any thread.</summary>
    public OperationId NewOperation() => new(state.Session, Numbers.Take());

    /// <summary>Takes a caller's operation.</summary>
    public void Start(ClientOperation op)
    {
        if (_over is { } over)
        {
            Finish(op, op.AtEnd(over, LastView));
            return;
        }
        if (op.CancelRequested)
        {
            Finish(op, new OperationCanceledException());
            return;
        }
        if (!op.Kind.Changes && op.PartCount == 1 && TryReadHere(op)) return;
        // The process may have been frozen after the turn began, with the call made only after that.
        op.Deadline = op.Timeout == ClientOperation.Unlimited ? long.MaxValue : state.Node.Clock() + op.Timeout;
        if (op.Requested is { } requested && !MayBegin(op, requested)) return;
        if (state.Node.Links.IsFull || WaitsTooLong(op)) Refuse(op, Overloaded(op));
        else if (!Queues(op) && HasPlace(op)) Admit(op);
        else if (MayWait(op)) Wait(op);
        else Refuse(op, Overloaded(op));
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
        _running.Clear();
        _takeovers.Clear();
        _early.Clear();
        // Ranks have changed.
        _hold.End(state.Node.Now);
        for (var op = _inFlight.First; op is not null; op = op.Next) _parked.Attribute(op, -1);
        for (ClientOperation? op = _inFlight.First, next; op is not null; op = next)
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
        _running.Clear();
        _takeovers.Clear();
        // Not "while one is left": after a fault in a turn, an operation may be in a list that does not match its phase.
        for (ClientOperation? op = _inFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            // The flush may commit a put that was sent. After a depopulation no member is left to ask.
            bool unknown = op is { Kind.Changes: true, Phase: not OperationPhase.Admitted } && reason is not ShardDepopulatedException;
            Finish(op, unknown ? new OutcomeUnknownException(op.Id, reason.Message, reason) { View = LastView } : op.AtEnd(reason, LastView));
        }
        FinishAll(_waiting.FirstPut, reason);
        FinishAll(_waiting.FirstRead, reason);
    }

    /// <summary>The DHT is over, and every call has ended: drops known outcomes and the pools.</summary>
    public void Forget()
    {
        _early.Clear();
        _free.Clear();
        _free.TrimExcess();
        _known.Clear();
        Numbers.Release();
    }

    private void FinishAll(ClientOperation? first, Exception reason)
    {
        for (ClientOperation? op = first, next; op is not null; op = next)
        {
            next = op.Next;
            Finish(op, op.AtEnd(reason, LastView));
        }
    }

    /// <summary>Deadlines, retries and takeovers.</summary>
    public void Tick(long now)
    {
        if (_hold.IsOver(now))
        {
            _hold.End(now);
            _released = true;
        }
        _admitting = true;
        for (ClientOperation? op = _inFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            if (op.Follower is { } follower) CheckCaller(follower, now);
            if (op.Phase != OperationPhase.Detached && CheckCaller(op, now)) continue;
            if (op.RetryAt == 0 || now < op.RetryAt) continue;
            if (op.Asks && state.Acts) AskHowItEnded(op);
            else Issue(op);
        }
        CheckCallers(_waiting.FirstPut, now);
        CheckCallers(_waiting.FirstRead, now);
        _admitting = false;
        AdmitWaiting();
        Measure();
        TakeOverStalled(now);
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
        else if (now >= op.Deadline) GiveUp(op, Late(op));
        return op.Phase == OperationPhase.Finished;
    }

    private bool TryReadHere(ClientOperation op)
    {
        ref var part = ref op.Parts[0];
        if (!state.Initialised || part.Shard != state.Shard || !state.Acts || part.Uses.LackedBy is not null || Queues(op)) return false;
        if (!participant.TryRead(op.KeyOf(0), part.Place, out part.Value, out part.Version)) return false;
        state.Counters.CountLocalRead();
        Finish(op, null);
        return true;
    }

    private void Wait(ClientOperation op)
    {
        if (!op.Move(OperationPhase.Waiting)) return;
        // So another retry of the same put finds this one.
        if (op.Requested is not null) _pending.Add(op.Id, op);
        if (IsNamedHere(op)) _named.Add(op);
        _waiting.Add(op);
        _waitingBytes += op.AskedBytes;
    }

    private void Admit(ClientOperation op)
    {
        bool waited = op.Phase == OperationPhase.Waiting;
        if (!op.Move(OperationPhase.Admitted)) return;
        if (waited) LeaveQueue(op);
        op.PutsBefore = Numbers.Puts;
        if (op.Requested is null) Name(op);
        if (!waited && op.Requested is not null) _pending.Add(op.Id, op);
        AddInFlight(op);
        _shares.Take(op);
        Issue(op);
    }

    /// <summary>
    /// Of the puts that are open, participants take the oldest whatever room they have, so that outcomes can be forgotten behind it. Where that one waits for a place here, it gets one beyond
    /// the bound: the puts that have the places may all be refused until it ends.
    /// </summary>
    private void AdmitOldest()
    {
        if (!_admitting && _over is null && _named.First is { Phase: OperationPhase.Waiting } oldest && oldest.Id.Sequence == AckedBelow()) Admit(oldest);
    }

    private void Name(ClientOperation op)
    {
        op.Id = new(state.Session, Numbers.Next(op.Kind.Changes));
        _pending.Add(op.Id, op);
    }

    /// <summary>Waiting calls take free places. Not during a walk over the operations, and not nested.</summary>
    private void AdmitWaiting()
    {
        if (_admitting) return;
        if (_released && _over is null) IssueAwaiting();
        _admitting = true;
        while (_over is null && NextWaiting() is { } next && HasPlace(next)) Admit(next);
        _admitting = false;
    }

    /// <summary>Number of waiting calls looked at to find the next; for tests of that cost.</summary>
    internal long Looks => _waiting.Looks;

    /// <summary>Every operation of a caller with the list in which it stands; for checks that each stands in one.</summary>
    internal IEnumerable<(OperationPhase Place, ClientOperation Op)> Standing()
    {
        for (var op = _inFlight.First; op is not null; op = op.Next)
        {
            yield return (op.IsInFlight && _pending.GetValueOrDefault(op.Id) == op ? op.Phase : OperationPhase.Free, op);
            if (op.Follower is { } follower) yield return (follower.Leader == op && op.Phase == OperationPhase.Detached ? OperationPhase.Following : OperationPhase.Free, follower);
        }
        for (var op = _waiting.FirstPut; op is not null; op = op.Next) yield return (OperationPhase.Waiting, op);
        for (var op = _waiting.FirstRead; op is not null; op = op.Next) yield return (OperationPhase.Waiting, op);
    }

    /// <summary>The attempts driven here, in no order; for checks that each and its operation refer to each other.</summary>
    internal IReadOnlyDictionary<AttemptId, CoordinatedOperation> Driven => _running.All;
}
