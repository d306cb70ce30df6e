using GroupCore.Runtime;

namespace Ida.Ordering;

/// <summary>
/// A member as participant: keeps the slice, proposes times, executes committed operations of each key in (time, id) order and says when
/// they are quiescent. Source: dht-order.md#the-normal-case.
/// </summary>
/// <remarks>
/// Guarantees: a proposal never changes within a view; conflicting operations are executed in (time, id) order; a value leaves this member
/// for a Strict read only when its writer is stable; the clock of a key is at least its version, and every time proposed or committed for it in this view.
/// An operation stays in the queues of its keys until it is executed and stable; so "each conflicting predecessor is stable" means that no
/// such operation stands in front. The record of a put stays in the table until its commit has reached all participants, because the flush asks who holds it.
/// A member without its state orders operations like any other member and answers nothing; <see cref="LatePuts"/> applies puts meanwhile.
/// </remarks>
internal sealed partial class Participant
{
    private readonly DhtState _state;
    private readonly IAnswers _send;
    private readonly KeyQueues _queues = new();
    private readonly Executor _executor;

    public Participant(DhtState state, IAnswers send)
    {
        (_state, _send) = (state, send);
        Records = new(state.Counters);
        Slice = new(state);
        Effects = new(state, Slice, Sessions, Records);
        Slice.Late = Late = new(state, Slice, Effects, Records);
        Reads = new(state, send, Slice, _queues);
        Admission = new(state, send, Sessions, Records, Late);
        _executor = new(state, send, _queues, Slice, Records, Effects, Late, Reads);
    }

    public Slice Slice { get; }

    /// <summary>The attempts that are held.</summary>
    public HeldRecords Records { get; }

    public SessionTable Sessions { get; } = new();

    public Effects Effects { get; }

    /// <summary>Reads of one key.</summary>
    public WaitingReads Reads { get; }

    /// <summary>What a member without its state does with puts.</summary>
    public LatePuts Late { get; }

    /// <summary>Decides which proposals are taken.</summary>
    public Admission Admission { get; }

    /// <summary>Gets the commits that arrive, to acknowledge them.</summary>
    public CommitGarbageCollection CommitGarbageCollection { get; set; } = null!;

    /// <summary>Keys with operations that are not yet executed and stable, or with readers that wait; none at rest.</summary>
    public int KeysInUse => _queues.Lent;

    /// <summary>Queues that are kept for keys that will be in use.</summary>
    internal int FreeQueues => _queues.Free;

    /// <summary>Number of uses looked at so far, in search of due and quiescent operations.</summary>
    internal long Looked => _executor.Looked;

    /// <summary>A proposal arrives, from its coordinator or forwarded in its name. Takes ownership of the record.</summary>
    public void Propose(ParticipantRecord op, int from, ulong hint, ulong ackedBelow)
    {
        var session = Admission.SessionOf(op.Key.Id.Session);
        session?.Acknowledge(ackedBelow);
        if (Records.Find(op.Key) is { } known) ProposeAgain(known, op, from);
        else if (Admission.Takes(op, session, from, hint)) Enqueue(op, from, hint);
        else Discard(op);
    }

    /// <summary>A proposal whose keys do not belong here by this member's hash: it can never be held (<see cref="Admission.Refuse"/>).</summary>
    public void Refuse(ParticipantRecord op, int from, int keys, RejectReason reason)
    {
        // The attempt may have come through another member while the hash was right: then it is held, whatever the hash says now.
        if (Records.Find(op.Key) is { } known)
        {
            ProposeAgain(known, op, from);
            return;
        }
        Admission.Refuse(op, from, keys, reason);
        Discard(op);
    }

    /// <summary>Queues a read that could not be answered at once; false when too many wait.</summary>
    public bool Read(ReadWait wait, ReadOnlySpan<byte> key, ulong place)
    {
        if (Reads.TryAdd(wait, key, place) is not { } entry) return false;
        _executor.Touch(entry);
        _executor.Pump();
        return true;
    }

    private void Enqueue(ParticipantRecord op, int from, ulong hint)
    {
        ulong time = _state.Clock.Clamp(hint, _state.Node.Now);
        bool quiescent = true, executed = true;
        bool asksExecuted = !_state.Rules.QuiescentIncludesPredecessors || (!op.Kind.Changes && op.Level == ConsistencyLevel.Ordered);
        for (int i = 0; i < op.UseCount; i++)
        {
            var entry = op.Uses[i].Entry;
            time = Math.Max(time, entry.Clock + 1);
            if (entry.Queue is not { } queue) continue;
            if (op.Kind.Changes && _state.Rules.QuiescentIncludesReads ? queue.Head is not null : queue.Puts > 0) quiescent = false;
            if (!quiescent && asksExecuted) executed &= AllExecuted(queue, op.Kind.Changes);
        }
        if (!_state.Rules.QuiescentIncludesPredecessors) quiescent = executed;
        op.Proposed = time;
        op.Since = _state.Node.Now;
        op.Void = Admission.WasTaken(op);
        _state.Clock.Observe(time);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            use.Entry.Clock = time;
            _queues.Of(use.Entry).Arrive(use);
        }
        Records.Add(op);
        AddCoordinator(op, from);
        if (op.Single)
        {
            op.Commit(time);
            if (!_executor.IsDue(op)) return;
            _executor.TouchAll(op);
            _executor.Pump();
            return;
        }
        bool answers = op.Kind.Changes || _state.CanAnswer;
        if (quiescent && answers && (_state.Initialised || op.Kind.Changes || !_state.Rules.OnlyInitialisedAnswers)) op.Tell(QuiescencePhase.AtProposal);
        bool speculate = quiescent || !_state.Rules.FastPathQuiescent || (!op.Kind.Changes && executed && op.Level == ConsistencyLevel.Ordered);
        if (speculate && answers && (_state.Initialised || !_state.Rules.OnlyInitialisedAnswers)) Effects.Speculate(op);
        Answer(op, from);
    }

    private static bool AllExecuted(KeyQueue queue, bool put)
    {
        for (var use = queue.Head; use is not null; use = use.Next)
            if (!use.Op.Executed && (put || use.Op.Kind.Changes)) return false;
        return true;
    }

    /// <summary>
    /// The answer to a proposal, the same however often it is asked for. An answer with values may have to wait, so a member that is owed too
    /// much gets none: it has asked before, or takes over and asks again.
    /// </summary>
    private void Answer(ParticipantRecord op, int to)
    {
        if (!op.Kind.Changes && _send.OwesTooMuch(to)) return;
        bool holds = !op.Committed || op.Time == op.Proposed;
        _send.Proposed(to, op, op.Told == QuiescencePhase.AtProposal, op.HasResult && holds);
        if (op.Told == QuiescencePhase.Quiescent) _send.Quiescent(to, op, early: false);
        if (op.Stable) _send.Stable(to, op.Key, op.Owner);
    }

    /// <summary>A proposal of an attempt that is held already: gets the answer that the first one got.</summary>
    private void ProposeAgain(ParticipantRecord known, ParticipantRecord op, int from)
    {
        bool same = known.Kind == op.Kind && known.Payload == op.Payload;
        Discard(op);
        if (!same)
        {
            // Each member numbers its attempts itself, and attempts under another member's id carry the hash of their pairs.
            _state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        AddCoordinator(known, from);
        Answer(known, from);
    }

    private static void AddCoordinator(ParticipantRecord op, int coordinator)
    {
        if (!op.Coordinators.Contains(coordinator)) op.Coordinators.Add(coordinator);
    }

    /// <summary>Drops a record that was never queued, with the entries that were made for it.</summary>
    public void Discard(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++) Slice.DropIfIdle(op.Uses[i].Entry);
        Records.Recycle(op);
    }
}
