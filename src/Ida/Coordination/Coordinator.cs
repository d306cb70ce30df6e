using Ida.Ordering;

namespace Ida.Coordination;

/// <summary>
/// A member as coordinator of its callers' operations: proposes, fixes the time as the maximum over all participants, and answers the
/// caller when the operation is stable. Source: ida 4.6 steps 1, 3 and 5; 4.13 (sessions); 4.16 (bounds).
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
    private const int ResolvedKept = 256;
    private const long RetryDelay = 2_000_000;
    private readonly Dictionary<OpId, ClientOp> _pending = [];
    private readonly Dictionary<OpKey, RunningOp> _running = [];
    private readonly List<RunningOp> _takeovers = [];
    private readonly Queue<ClientOp> _waiting = new();
    private readonly Stack<RunningOp> _free = [];
    private readonly Dictionary<OpId, Outcome> _resolved = [];
    private readonly Queue<OpId> _resolvedOrder = new();
    private ClientOp? _first, _last;
    private readonly List<ClientOp> _requestedHere = [];
    private readonly List<RunningOp> _early = [];
    private int _inFlight;
    private bool _admitting;
    private ulong _sequence;
    private Exception? _over;

    /// <summary>Whether anything here needs the tick.</summary>
    public bool HasWork => _first is not null || _waiting.Count > 0 || _takeovers.Count > 0;

    /// <summary>A caller's operation enters.</summary>
    public void Start(ClientOp op)
    {
        if (_over is { } over)
        {
            Answer(op, over);
            return;
        }
        if (!op.IsPut && op.PartCount == 1 && TryReadHere(op)) return;
        op.Deadline = state.Node.Now + op.Timeout;
        if (op.Requested is { } requested)
        {
            op.Id = requested;
            if (_resolved.TryGetValue(requested, out var known))
            {
                if (known.Payload != op.Payload)
                {
                    Answer(op, new OperationIdReusedException(requested));
                    return;
                }
                for (int i = 0; i < op.PartCount; i++) Give(op, i, known.VersionAt(i), known.ErrorAt(i));
                Answer(op, null);
                return;
            }
            if (_pending.TryGetValue(requested, out var running))
            {
                if (running.Payload != op.Payload) Answer(op, new OperationIdReusedException(requested));
                else if (running.Follower is null && running.Detached) running.Follower = op;
                else Answer(op, new ArgumentException($"Operation {requested} is under way at this member.", nameof(op)));
                return;
            }
        }
        if (_inFlight < state.Options.MaxInFlight) Admit(op);
        else if (_waiting.Count < state.Options.MaxInFlight * WaitingFactor) _waiting.Enqueue(op);
        else Answer(op, new OverloadedException(TimeSpan.FromMilliseconds(10), $"{_waiting.Count} operations wait at this member for one of {state.Options.MaxInFlight} places."));
    }

    /// <summary>The caller gave up.</summary>
    public void Cancel(ClientOp op)
    {
        if (op.Finished || op.Detached) return;
        if (!op.Sent) Finish(op, new OperationCanceledException());
        else if (!op.IsPut) Finish(op, new OperationCanceledException());
        else Detach(op, new OutcomeUnknownException(op.Id, "The put was cancelled after it was sent; it goes on."));
    }

    /// <summary>A view is installed: everything unanswered begins again.</summary>
    public void BeginView()
    {
        _admitting = true;
        _running.Clear();
        _takeovers.Clear();
        _early.Clear();
        for (ClientOp? op = _first, next; op is not null; op = next)
        {
            next = op.Next;
            op.Running = null;
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
        for (ClientOp? op = _first, next; op is not null; op = next)
        {
            next = op.Next;
            // The flush may commit a put that was sent. After a depopulation there is nothing left to ask.
            Finish(op, op is { IsPut: true, Sent: true } && reason is NotDhtMemberException ? new OutcomeUnknownException(op.Id, reason.Message) : reason);
        }
        while (_waiting.TryDequeue(out var op)) Leave(op, reason);
    }

    /// <summary>Deadlines, retries and takeovers.</summary>
    public void Tick(long now)
    {
        _admitting = true;
        for (ClientOp? op = _first, next; op is not null; op = next)
        {
            next = op.Next;
            if (op.Follower is { } follower && now >= follower.Deadline)
            {
                op.Follower = null;
                Answer(follower, new OutcomeUnknownException(op.Id, $"No outcome within {TimeSpan.FromTicks(follower.Timeout / 100)}; the put goes on."));
            }
            if (now >= op.Deadline && !op.Detached) Expire(op);
            else if (op.RetryAt != 0 && now >= op.RetryAt) Issue(op);
        }
        _admitting = false;
        AdmitWaiting();
        for (int i = _waiting.Count; i > 0; i--)
        {
            var op = _waiting.Dequeue();
            if (op.Finished) op.LetGo();
            else if (now < op.Deadline) _waiting.Enqueue(op);
            else Leave(op, Late(op));
        }
        TakeOverStalled(now);
    }

    private bool TryReadHere(ClientOp op)
    {
        ref var part = ref op.Parts[0];
        if (!state.Full || part.Shard != state.Shard || !state.Acts || _waiting.Count > 0) return false;
        if (!participant.TryRead(op.KeyOf(0), part.Hash, out part.Value, out part.Version)) return false;
        state.Counters.CountLocalRead();
        Answer(op, null);
        return true;
    }

    private void Admit(ClientOp op)
    {
        _inFlight++;
        op.InFlight = true;
        if (op.Requested is null) op.Id = new(state.Session, ++_sequence);
        else if (op.Id.Session == state.Session) _requestedHere.Add(op);
        _pending.Add(op.Id, op);
        op.Previous = _last;
        op.Next = null;
        if (_last is null) _first = op; else _last.Next = op;
        _last = op;
        Issue(op);
    }

    private void Expire(ClientOp op)
    {
        if (!op.Sent) Finish(op, Late(op));
        else if (!op.IsPut) Finish(op, Late(op));
        else Detach(op, new OutcomeUnknownException(op.Id, $"No outcome within {TimeSpan.FromTicks(op.Timeout / 100)}; the put goes on."));
    }

    private DhtException Late(ClientOp op)
    {
        var waited = TimeSpan.FromTicks(op.Timeout / 100);
        if (!state.Acts) return new ViewUnavailableException($"No view to act in within {waited}.");
        return state.Blocked || !state.Port.HoldsLease ? new ViewUnavailableException($"No contact with the primary partition within {waited}.")
            : new OperationNotExecutedException($"Not executed within {waited}; {_inFlight} operations are in flight and {_waiting.Count} wait at this member.");
    }

    private void Answer(ClientOp op, Exception? error)
    {
        op.Error = error;
        op.Finished = true;
        state.Node.Complete(op);
        op.LetGo();
    }

    private void Leave(ClientOp op, Exception reason)
    {
        if (op.Finished) op.LetGo();
        else Answer(op, reason);
    }

    private void Detach(ClientOp op, Exception error)
    {
        op.Detached = true;
        op.Error = error;
        state.Node.Complete(op);
    }

    private void Finish(ClientOp op, Exception? error)
    {
        if (op.Finished) return;
        if (!op.InFlight)
        {
            // It stays in the queue of waiting calls until its turn there.
            op.Finished = true;
            op.Error = error;
            state.Node.Complete(op);
            return;
        }
        _pending.Remove(op.Id);
        if (op.Requested is not null) _requestedHere.Remove(op);
        if (op.Previous is null) _first = op.Next; else op.Previous.Next = op.Next;
        if (op.Next is null) _last = op.Previous; else op.Next.Previous = op.Previous;
        op.Previous = op.Next = null;
        _inFlight--;
        if (op.Running is { } running)
        {
            running.Client = null;
            op.Running = null;
        }
        if (op.Follower is { } follower)
        {
            op.Follower = null;
            for (int i = 0; i < follower.PartCount; i++) Give(follower, i, op.Parts[i].Version, op.Parts[i].Error);
            Answer(follower, error);
        }
        if (op.Detached)
        {
            if (op.IsPut && error is null && !op.WithoutResult) Remember(op);
            op.Finished = true;
            op.LetGo();
        }
        else
        {
            Answer(op, error);
        }
        AdmitWaiting();
    }

    /// <summary>Waiting calls take free places; not from inside of a walk over the operations, and not nested.</summary>
    private void AdmitWaiting()
    {
        if (_admitting) return;
        _admitting = true;
        while (_inFlight < state.Options.MaxInFlight && _over is null && _waiting.TryDequeue(out var next))
        {
            if (next.Finished) next.LetGo();
            else Admit(next);
        }
        _admitting = false;
    }

    /// <summary>The outcome of a put whose caller was told "unknown" is kept for a while, since the acknowledgement lets replicas forget it.</summary>
    private void Remember(ClientOp op)
    {
        var versions = new ulong[op.PartCount];
        var errors = new string?[op.PartCount];
        for (int i = 0; i < versions.Length; i++) (versions[i], errors[i]) = (op.Parts[i].Version, op.Parts[i].Error);
        if (!_resolved.TryAdd(op.Id, new(op.Id.Sequence, state.View, op.Attempt, op.Requested is not null, op.Payload, new(versions), errors))) return;
        _resolvedOrder.Enqueue(op.Id);
        if (_resolvedOrder.Count > ResolvedKept) _resolved.Remove(_resolvedOrder.Dequeue());
    }

    /// <summary>Outcomes below this number of the own session are not asked for any more.</summary>
    private ulong AckedBelow()
    {
        ulong below = _sequence + 1;
        for (var op = _first; op is not null; op = op.Next)
        {
            if (op.Requested is not null) continue;
            below = op.Id.Sequence;
            break;
        }
        foreach (var op in _requestedHere) below = Math.Min(below, op.Id.Sequence);
        foreach (var running in _early) below = Math.Min(below, running.Key.Id.Sequence);
        return below;
    }

    private static void Give(ClientOp op, int part, ulong version, string? error)
    {
        ref var to = ref op.Parts[part];
        (to.HasResult, to.Version, to.Error) = (true, version, error);
    }
}
