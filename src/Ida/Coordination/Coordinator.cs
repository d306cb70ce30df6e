using GroupCore.Runtime;
using Ida.Ordering;

namespace Ida.Coordination;

/// <summary>
/// A member as coordinator of its callers' operations: proposes, fixes the time as the maximum over all participants, and answers the
/// caller when the operation is stable. Source: dht-order.md#the-normal-case, #outcomes-are-forgotten-when-acknowledged, #limits.
/// </summary>
/// <remarks>
/// Fast path: all proposals equal and all clear means that nothing can slip below the time any more and all before it is stable, so the
/// caller is answered after two delays. Otherwise participants acknowledge when they are clear. A caller never sees a view change: at an
/// install every operation that was not answered is issued again under the same logical id, and whoever executed it answers DONE.
/// An attempt ends without effect only when a participant has said that it will never hold it.
/// </remarks>
internal sealed partial class Coordinator(DhtState state, Wire.DhtSender send, Participant participant, Settlement settlement)
{
    private const int WaitingFactor = 16;
    private const long RetryDelay = 2_000_000, MostRetryDelay = 500_000_000, RetryStep = 5_000_000;
    private readonly Dictionary<OpId, ClientOp> _pending = [];
    private readonly RunningTable _running = new();
    private readonly List<RunningOp> _takeovers = [];
    private readonly Stack<RunningOp> _free = [];
    private readonly List<RunningOp> _early = [];
    private readonly WaitingLine _waiting = new();
    private OpList _inFlight;
    private bool _admitting;
    private ulong _sequence;
    private Exception? _over;

    /// <summary>Whether anything here needs the tick.</summary>
    public bool HasWork => _inFlight.Count > 0 || _waiting.Count > 0 || _takeovers.Count > 0;

    /// <summary>A caller's operation enters.</summary>
    public void Start(ClientOp op)
    {
        if (_over is { } over)
        {
            Finish(op, op.AtEnd(over));
            return;
        }
        if (op.CancelRequested)
        {
            Finish(op, new OperationCanceledException());
            return;
        }
        if (!op.IsPut && op.PartCount == 1 && TryReadHere(op)) return;
        // The turn may have begun before a freeze of the process, and the call be made after it.
        op.Deadline = op.Timeout == ClientOp.Unlimited ? long.MaxValue : state.Node.Clock() + op.Timeout;
        if (op.Requested is { } requested && !MayBegin(op, requested)) return;
        if (state.Node.Links.IsFull || WaitsTooLong(op)) Refuse(op, Overloaded(op));
        else if (!Queues(op) && HasPlace(op)) Admit(op);
        else if (MayWait(op)) Wait(op);
        else Refuse(op, Overloaded(op));
    }

    /// <summary>The caller gave up. What is not with the coordinator yet finds the mark when it comes; what has ended stays so.</summary>
    public void Cancel(ClientOp op)
    {
        if (op.Phase is OpPhase.Waiting or OpPhase.Following or OpPhase.Admitted or OpPhase.Sent) GiveUp(op, new OperationCanceledException());
    }

    /// <summary>A view is installed: everything unanswered begins again.</summary>
    public void BeginView()
    {
        _admitting = true;
        _running.Clear();
        _takeovers.Clear();
        _early.Clear();
        // Ranks are others now.
        _hold.End(state.Node.Now);
        for (var op = _inFlight.First; op is not null; op = op.Next) _parked.Attribute(op, -1);
        for (ClientOp? op = _inFlight.First, next; op is not null; op = next)
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
        // Not "while one is left": after a fault in a turn an operation may be in a list that its phase does not say.
        for (ClientOp? op = _inFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            // The flush may commit a put that was sent. After a depopulation there is nothing left to ask.
            bool unknown = op is { IsPut: true, Phase: not OpPhase.Admitted } && reason is NotDhtMemberException or NodeFaultedException;
            Finish(op, unknown ? new OutcomeUnknownException(op.Id, reason.Message, reason) : op.AtEnd(reason));
        }
        FinishAll(_waiting.FirstPut, reason);
        FinishAll(_waiting.FirstRead, reason);
    }

    /// <summary>It is over, and every call ended: nobody asks for what is known, or for what was to be used again.</summary>
    public void Forget()
    {
        _early.Clear();
        _free.Clear();
        _free.TrimExcess();
        _known.Clear();
    }

    private void FinishAll(ClientOp? first, Exception reason)
    {
        for (ClientOp? op = first, next; op is not null; op = next)
        {
            next = op.Next;
            Finish(op, op.AtEnd(reason));
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
        for (ClientOp? op = _inFlight.First, next; op is not null; op = next)
        {
            next = op.Next;
            if (op.Follower is { } follower) CheckCaller(follower, now);
            if (op.Phase != OpPhase.Detached && CheckCaller(op, now)) continue;
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

    private void CheckCallers(ClientOp? first, long now)
    {
        for (ClientOp? op = first, next; op is not null; op = next)
        {
            next = op.Next;
            CheckCaller(op, now);
        }
    }

    /// <summary>Ends the call of a caller who gave up or whose time is over; true when nothing is left to do for it.</summary>
    private bool CheckCaller(ClientOp op, long now)
    {
        if (op.CancelRequested) GiveUp(op, new OperationCanceledException());
        else if (now >= op.Deadline) GiveUp(op, Late(op));
        return op.Phase == OpPhase.Finished;
    }

    private bool TryReadHere(ClientOp op)
    {
        ref var part = ref op.Parts[0];
        if (!state.Full || part.Shard != state.Shard || !state.Acts || Queues(op)) return false;
        if (!participant.TryRead(op.KeyOf(0), part.Hash, out part.Value, out part.Version)) return false;
        state.Counters.CountLocalRead();
        Finish(op, null);
        return true;
    }

    private void Wait(ClientOp op)
    {
        if (!op.Move(OpPhase.Waiting)) return;
        // Another retry of it meets this one.
        if (op.Requested is not null) _pending.Add(op.Id, op);
        _waiting.Add(op);
        _waitingBytes += op.AskedBytes;
    }

    private void Admit(ClientOp op)
    {
        bool waited = op.Phase == OpPhase.Waiting;
        if (!op.Move(OpPhase.Admitted)) return;
        if (waited) LeaveQueue(op);
        op.PutsBefore = _puts;
        if (op.Requested is null) Name(op);
        else if (op.Id.Session == state.Session) _requestedHere.Add(op);
        if (!waited && op.Requested is not null) _pending.Add(op.Id, op);
        AddInFlight(op);
        TakeShare(op);
        Issue(op);
    }

    /// <summary>Puts and reads are numbered in the order in which they begin: the former get odd numbers, the latter even ones.</summary>
    private void Name(ClientOp op)
    {
        if (op.IsPut) _puts++;
        _sequence++;
        if (op.IsPut == IsOfRead(_sequence)) _sequence++;
        op.Id = new(state.Session, _sequence);
        _pending.Add(op.Id, op);
    }

    /// <summary>Waiting calls take free places; not from inside of a walk over the operations, and not nested.</summary>
    private void AdmitWaiting()
    {
        if (_admitting) return;
        if (_released && _over is null) IssueAwaiting();
        _admitting = true;
        while (_over is null && NextWaiting() is { } next && HasPlace(next)) Admit(next);
        _admitting = false;
    }

    /// <summary>Waiting calls that were looked at to find the next, for who counts what that costs.</summary>
    internal long Looks => _waiting.Looks;

    /// <summary>Every operation of a caller with the place where it stands, for who looks whether each stands in one.</summary>
    internal IEnumerable<(OpPhase Place, ClientOp Op)> Standing()
    {
        for (var op = _inFlight.First; op is not null; op = op.Next)
        {
            yield return (op.IsInFlight && _pending.GetValueOrDefault(op.Id) == op ? op.Phase : OpPhase.Free, op);
            if (op.Follower is { } follower) yield return (follower.Leader == op && op.Phase == OpPhase.Detached ? OpPhase.Following : OpPhase.Free, follower);
        }
        for (var op = _waiting.FirstPut; op is not null; op = op.Next) yield return (OpPhase.Waiting, op);
        for (var op = _waiting.FirstRead; op is not null; op = op.Next) yield return (OpPhase.Waiting, op);
    }

    /// <summary>What is being driven here, in no order, for who looks whether each knows its operation and is known to it.</summary>
    internal IReadOnlyDictionary<OpKey, RunningOp> Driven => _running.All;
}
