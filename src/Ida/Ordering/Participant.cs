using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

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
/// A member without its state orders operations like any other member and answers nothing; .Newcomer shows how it applies puts meanwhile.
/// </remarks>
internal sealed partial class Participant(DhtState state, IAnswers send) : IResolvers
{
    private const int MostUnheard = 16_384, MostRecords = 4096, MostPooledUses = 65_536;
    internal const int LimitedPerTurn = 16_384;
    private const long BetweenViews = 1_000_000_000;

    private readonly RecordTable _ops = new();
    private readonly List<Entry> _touched = [];
    private readonly KeyQueues _queues = new();
    private readonly Stack<ParticipantRecord> _records = [];
    private readonly Stack<ReadWait> _waits = [];
    private ParticipantRecord? _oldest, _newest;
    private long _unsettledBytes;
    private int _pooledUses, _readsWaiting;
    private ulong _floor;
    private long _mayAskForView;

    public EntryTable Table { get; private set; } = new();

    public SessionTable Sessions { get; } = new();

    /// <summary>
    /// Bytes of outcomes of departed members with which a view may begin. During the view, retries of their puts may add a quarter at most:
    /// beyond that, a retry that would add more is told that its outcome is forgotten.
    /// </summary>
    internal long MostLostBytes { get; set; } = 4 * state.Own.MaxOutcomeBytes;

    /// <summary>Gets the commits that arrive, to acknowledge them.</summary>
    public CommitGarbageCollection CommitGarbageCollection { get; set; } = null!;

    /// <summary>The slice as it was when the view was installed, while newcomers get it.</summary>
    public ViewSnapshot Snapshot { get; } = new();

    /// <summary>The cut that is being copied for callers of a snapshot.</summary>
    public SliceCut? Cut { get; set; }

    /// <summary>Operations held, oldest first.</summary>
    public ParticipantRecord? Oldest => _oldest;

    public int OperationCount => _ops.Count;

    /// <summary>Keys with operations that are not yet executed and stable, or with readers that wait; none at rest.</summary>
    public int KeysInUse => _queues.Lent;

    /// <summary>Queues that are kept for keys that will be in use.</summary>
    internal int FreeQueues => _queues.Free;

    public bool HasWaits { get; private set; }

    /// <summary>Where the clocks of absent keys begin.</summary>
    internal ulong Floor => _floor;

    /// <summary>Number of uses looked at so far, in search of due and quiescent operations.</summary>
    internal long Looked { get; private set; }

    public ParticipantRecord? Find(in AttemptId key) => _ops.Find(key);

    public ParticipantRecord NewRecord()
    {
        if (!_records.TryPop(out var record)) return new(state.Counters);
        _pooledUses -= record.Uses.Length;
        return record;
    }

    /// <summary>The entry of a key, made when it is new; <paramref name="place"/> is its <see cref="KeyIdentity.PlaceOf"/>.</summary>
    public Entry EntryOf(ReadOnlySpan<byte> key, ulong place) => Table.FindOrAdd(key, place, _floor);

    /// <summary>A proposal arrives, from its coordinator or forwarded in its name. Takes ownership of the record.</summary>
    public void Propose(ParticipantRecord op, int from, ulong hint, ulong ackedBelow)
    {
        var session = SessionOf(op.Key.Id.Session);
        session?.Acknowledge(ackedBelow);
        if (_ops.Find(op.Key) is { } known)
        {
            ProposeAgain(known, op, from);
            return;
        }
        ulong sequence = op.Key.Id.Sequence;
        bool remembered = false;
        Outcome outcome = default;
        if (op.Kind.Changes && session is not null && state.Rules.OutcomeTable) remembered = Remembers(session, op.Key, out outcome);
        bool others = op.Kind.Changes && (remembered && !PutPayload.SamePairs(outcome.Payload, op.Payload) || HoldsOtherPairs(op));
        if (remembered && !others && IsOver(outcome, op) && MayTell(outcome, from))
        {
            // The outcome knows nothing of keys placed otherwise: even their number may differ.
            bool same = outcome.Payload == op.Payload;
            send.Executed(from, op.Key, op.Owner, same ? op.UseCount : 0, same ? outcome : default);
            Discard(op);
            return;
        }
        RejectReason? refusal = null;
        if (session is null || sequence < session.AckedBelow || (state.Initialised && session.LostIn == Session.NotHeard)) refusal = RejectReason.Expired;
        else if (op.Kind.Changes && !remembered && session.IsLost && Sessions.LostBytes >= MostLostBytes + (MostLostBytes / 4)) refusal = RejectReason.Expired;
        else if (others) refusal = remembered || HoldsFirst(op.Key.Id) ? RejectReason.Taken : RejectReason.OtherPairs;
        else if (session.IsRejected(op.Key) && state.Rules.RejectionRefusesLater) refusal = RejectReason.Rejected;
        else if (session.LostIn == Session.NotHeard || HoldsOtherPlaces(op, remembered, outcome) || (!op.Kind.Changes && !state.Initialised && state.Rules.OnlyInitialisedAnswers)) refusal = RejectReason.NotInitialised;
        else if (Overloaded(op, from)) refusal = RejectReason.Overloaded;
        else if (op.Kind.Changes && !session.IsOldest(sequence) && session.IsFull(state.Own.MaxOutcomeBytes)) refusal = RejectReason.OutcomesFull;
        else if (IsTooFarAhead(op, hint)) refusal = RejectReason.ClockAhead;
        if (refusal is { } reason)
        {
            if (reason == RejectReason.ClockAhead) AskForView();
            // These reasons end a call with "nothing was executed".
            if ((reason is RejectReason.Overloaded or RejectReason.OutcomesFull or RejectReason.ClockAhead) && MayBeExecuted(op)) reason = RejectReason.NotInitialised;
            RefuseWith(reason, op, session, from);
            return;
        }
        Enqueue(op, from, hint);
    }

    /// <summary>A time is too far ahead here. Views align clocks, so this asks for one: at most once a second.</summary>
    public void AskForView()
    {
        if (state.Node.Now < _mayAskForView) return;
        _mayAskForView = state.Node.Now + BetweenViews;
        state.Port.RequestView();
    }

    /// <summary>
    /// A proposal whose keys do not belong here by this member's hash: it can never be held. Where another attempt at the put was executed,
    /// the coordinator is told so all the same, since that needs no key; but without results where these are for another number of
    /// <paramref name="keys"/> than the coordinator has here: then it is the coordinator's hash that errs.
    /// </summary>
    public void Refuse(ParticipantRecord op, int from, int keys, RejectReason reason)
    {
        if (_ops.Find(op.Key) is { } known)
        {
            // The attempt came through another member while the hash was right, and is held, whatever the hash says now.
            ProposeAgain(known, op, from);
            return;
        }
        var session = SessionOf(op.Key.Id.Session);
        Outcome outcome = default;
        bool remembered = op.Kind.Changes && session is not null && Remembers(session, op.Key, out outcome);
        if (remembered && PutPayload.SamePairs(outcome.Payload, op.Payload) && IsOver(outcome, op) && MayTell(outcome, from))
        {
            bool same = outcome.Payload == op.Payload && keys == outcome.Versions.Count;
            send.Executed(from, op.Key, op.Owner, same ? keys : 0, same ? outcome : default);
            Discard(op);
            return;
        }
        // "Nothing was executed" must not be said of a put that was executed, or may be yet.
        if (session is null || op.Key.Id.Sequence < session.AckedBelow) reason = RejectReason.Expired;
        else if (remembered && !PutPayload.SamePairs(outcome.Payload, op.Payload)) reason = RejectReason.Taken;
        else if (MayBeExecuted(op)) reason = RejectReason.NotInitialised;
        RefuseWith(reason, op, session, from);
    }

    private void RefuseWith(RejectReason reason, ParticipantRecord op, Session? session, int from)
    {
        if (Refuses(session, op.Key, op.Issued)) send.Rejected(from, op.Key, op.Owner, reason);
        Discard(op);
    }

    /// <summary>
    /// Refuses an attempt for the rest of the view; where the issuer itself sent it, also all attempts below it. False where no more refusals
    /// can be remembered: then nothing is promised.
    /// </summary>
    private bool Refuses(Session? session, in AttemptId key, bool issued)
    {
        if (session is null || Sessions.TryRefuse(session, key, issued)) return true;
        state.Node.Counters.Refuse(RefusalReason.Unexpected);
        return false;
    }

    /// <summary>
    /// The session of an operation. A member without its state may not know a session that its peers know; it keeps its refusals until the
    /// sessions come with the state. With its state it refuses unknown sessions for the whole view, since new ones come at view changes only.
    /// </summary>
    private Session? SessionOf(UInt128 id)
    {
        if (Sessions.Find(id) is { } known) return known;
        if (state.Initialised || Sessions.All.Count > MostUnheard) return null;
        var session = Sessions.GetOrAdd(id);
        session.LostIn = Session.NotHeard;
        return session;
    }

    /// <summary>
    /// What is known here of the put of an attempt. A member without its state tells only of the attempts that it executed itself: a late or
    /// forwarded proposal of one may come when its record has gone.
    /// </summary>
    private bool Remembers(Session session, in AttemptId key, out Outcome outcome) =>
        session.TryGet(key.Id.Sequence, out outcome) && (state.Initialised || (outcome.View == state.View && outcome.IsOf(key)));

    /// <summary>
    /// Whether the put was executed in an earlier view, or in this one by an attempt that has left the table: then all have its commit, and it
    /// is stable. It stays so: where no attempt is held, none is taken any more.
    /// </summary>
    private bool IsOver(in Outcome outcome, ParticipantRecord op) => outcome.View < state.View || outcome.IsOf(op.Key) || !HoldsPut(op.Key.Id);

    /// <summary>Whether an outcome can be told to a member now: a value may have to wait here for room on its link. One that cannot counts as not told, and a later attempt gets it once less is owed.</summary>
    private bool MayTell(in Outcome outcome, int to) => outcome.Report?.Value is null || !send.OwesTooMuch(to);

    /// <summary>Whether an attempt at the put is held. A read under its id does not count: only a lying member sends one.</summary>
    private bool HoldsPut(OperationId id)
    {
        for (var attempt = _ops.AttemptsOf(id); attempt is not null; attempt = attempt.OtherAttempt)
            if (attempt.Kind.Changes) return true;
        return false;
    }

    /// <summary>
    /// Whether another put is held under the same id. Any two puts of one shard meet at its initialised members, so of two with different pairs
    /// at most one is held by all its participants, and only that one can be committed.
    /// </summary>
    private bool HoldsOtherPairs(ParticipantRecord op)
    {
        for (var other = _ops.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (other.Kind.Changes && !PutPayload.SamePairs(other.Payload, op.Payload)) return true;
        return false;
    }

    /// <summary>Whether the put is held to which the id was given: only its attempts carry no hash of their pairs.</summary>
    private bool HoldsFirst(OperationId id)
    {
        for (var attempt = _ops.AttemptsOf(id); attempt is not null; attempt = attempt.OtherAttempt)
            if (attempt.Kind.Changes && attempt.Key.Payload == 0) return true;
        return false;
    }

    /// <summary>
    /// Whether the same put is held, or was executed and is not over, with some of its keys in another shard: members disagree about the hash.
    /// Two such attempts meet at the shards that both have: as with two puts, at most one is held by all its participants. At a member
    /// without its state, another put that it executed counts too.
    /// </summary>
    private bool HoldsOtherPlaces(ParticipantRecord op, bool remembered, in Outcome outcome)
    {
        if (!op.Kind.Changes) return false;
        for (var other = _ops.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (other.Kind.Changes && other.Payload != op.Payload) return true;
        // A member knows what it executed itself before its state comes. It may be alone with its state when the view ends: then no other member can be asked.
        return ((remembered || outcome.View == state.View) && outcome.Payload != op.Payload) || (_lateOps.TryGetValue(op.Key.Id, out ulong late) && late != op.Payload);
    }

    /// <summary>Whether another attempt at the put was executed here, or is held and may yet be executed.</summary>
    private bool MayBeExecuted(ParticipantRecord op) => op.Kind.Changes && (_ops.AttemptsOf(op.Key.Id) is not null || WasTaken(op));

    private bool Overloaded(ParticipantRecord op, int from)
    {
        if (_ops.Count >= state.Own.MaxOperations || _unsettledBytes > DhtLimits.ContributionBytes || TooLate(op) || (op.BringsValues && send.OwesTooMuch(from))) return true;
        int attempts = 0;
        for (var other = _ops.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (++attempts == RecordTable.MostAttempts) return true;
        for (int i = 0; i < op.UseCount; i++)
            if (op.Uses[i].Entry.Queue is { } queue && queue.Uses >= state.Own.MaxQueuePerKey) return true;
        return false;
    }

    /// <summary>
    /// Whether a clock is wrong: the coordinator's, or that of the member that last wrote one of the keys; or this member's own clock. In the last case
    /// the key's clock is ahead of what the coordinator suggests, and the coordinator would not take it.
    /// </summary>
    private bool IsTooFarAhead(ParticipantRecord op, ulong hint)
    {
        ulong limit = state.Clock.Limit(state.Node.Now);
        bool ahead = hint > limit;
        limit = Math.Min(limit, state.Clock.LimitAfter(hint));
        for (int i = 0; i < op.UseCount; i++) ahead |= op.Uses[i].Entry.Clock >= limit;
        return ahead;
    }

    private void Enqueue(ParticipantRecord op, int from, ulong hint)
    {
        ulong time = state.Clock.Clamp(hint, state.Node.Now);
        bool quiescent = true, executed = true;
        bool asksExecuted = !state.Rules.QuiescentIncludesPredecessors || (!op.Kind.Changes && op.Level == ConsistencyLevel.Ordered);
        for (int i = 0; i < op.UseCount; i++)
        {
            var entry = op.Uses[i].Entry;
            time = Math.Max(time, entry.Clock + 1);
            if (entry.Queue is not { } queue) continue;
            if (op.Kind.Changes && state.Rules.QuiescentIncludesReads ? queue.Head is not null : queue.Puts > 0) quiescent = false;
            if (!quiescent && asksExecuted) executed &= AllExecuted(queue, op.Kind.Changes);
        }
        if (!state.Rules.QuiescentIncludesPredecessors) quiescent = executed;
        op.Proposed = time;
        op.Since = state.Node.Now;
        op.Void = WasTaken(op);
        state.Clock.Observe(time);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            use.Entry.Clock = time;
            _queues.Of(use.Entry).Arrive(use);
        }
        Add(op);
        AddCoordinator(op, from);
        if (op.Single)
        {
            op.Commit(time);
            if (!Due(op)) return;
            TouchAll(op);
            Pump();
            return;
        }
        bool answers = op.Kind.Changes || state.CanAnswer;
        if (quiescent && answers && (state.Initialised || op.Kind.Changes || !state.Rules.OnlyInitialisedAnswers)) op.Tell(QuiescencePhase.AtProposal);
        bool speculate = quiescent || !state.Rules.FastPathQuiescent || (!op.Kind.Changes && executed && op.Level == ConsistencyLevel.Ordered);
        if (speculate && answers && (state.Initialised || !state.Rules.OnlyInitialisedAnswers)) Speculate(op);
        Answer(op, from);
    }

    private static bool AllExecuted(KeyQueue queue, bool put)
    {
        for (var use = queue.Head; use is not null; use = use.Next)
            if (!use.Op.Executed && (put || use.Op.Kind.Changes)) return false;
        return true;
    }

    /// <summary>
    /// The answer to a proposal, the same however often it is asked. An answer with values may have to wait. So a member that is owed too
    /// much gets none: it has asked before, or takes over and asks again.
    /// </summary>
    private void Answer(ParticipantRecord op, int to)
    {
        if (!op.Kind.Changes && send.OwesTooMuch(to)) return;
        bool holds = !op.Committed || op.Time == op.Proposed;
        send.Proposed(to, op, op.Told == QuiescencePhase.AtProposal, op.HasResult && holds);
        if (op.Told == QuiescencePhase.Quiescent) send.Quiescent(to, op, early: false);
        if (op.Stable) send.Stable(to, op.Key, op.Owner);
    }

    /// <summary>A proposal of an attempt that is held already: gets the answer that the first one got.</summary>
    private void ProposeAgain(ParticipantRecord known, ParticipantRecord op, int from)
    {
        bool same = known.Kind == op.Kind && known.Payload == op.Payload;
        Discard(op);
        if (!same)
        {
            // Each member numbers its attempts itself, and attempts under another member's id carry the hash of their pairs.
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        AddCoordinator(known, from);
        Answer(known, from);
    }

    private static void AddCoordinator(ParticipantRecord op, int coordinator)
    {
        if (!op.Coordinators.Contains(coordinator)) op.Coordinators.Add(coordinator);
    }

    private void Add(ParticipantRecord op)
    {
        op.Move(RecordPhase.Proposed);
        _ops.Add(op);
        op.Older = _newest;
        if (_newest is null) _oldest = op; else _newest.Newer = op;
        _newest = op;
        if (op.Kind.Changes) _unsettledBytes += SizeOf(op);
    }

    private void Remove(ParticipantRecord op)
    {
        if (op.Move(RecordPhase.Free)) Drop(op);
    }

    /// <summary>Removes a record from the table, from whatever phase.</summary>
    private void Drop(ParticipantRecord op)
    {
        LeaveTable(op);
        Recycle(op);
    }

    private void LeaveTable(ParticipantRecord op)
    {
        _ops.Remove(op);
        if (op.Older is null) _oldest = op.Newer; else op.Older.Newer = op.Newer;
        if (op.Newer is null) _newest = op.Older; else op.Newer.Older = op.Older;
        op.Older = op.Newer = null;
        if (op.Kind.Changes) _unsettledBytes -= SizeOf(op);
    }

    /// <summary>Bytes of the record in a contribution.</summary>
    private static int SizeOf(ParticipantRecord op) => 68 + 3 * op.SlotCount;

    private void Recycle(ParticipantRecord op)
    {
        op.Reset();
        // A put of thousands of keys is rare, and its record large: the pool keeps few of these.
        if (_records.Count >= MostRecords || _pooledUses + op.Uses.Length > MostPooledUses) return;
        _pooledUses += op.Uses.Length;
        _records.Push(op);
    }

    /// <summary>Drops a record that was never queued, with the entries that were made for it.</summary>
    public void Discard(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++) DropIfIdle(op.Uses[i].Entry);
        Recycle(op);
    }

    /// <summary>Removes the entry of an absent key that nothing waits for; the floor takes over its clock.</summary>
    public void DropIfIdle(Entry entry)
    {
        if (!entry.Idle || entry.Touched || Snapshot.Needs(entry) || Cut?.Needs(entry) == true || (!state.Initialised && (IsMark(entry) || _lines.Has(entry)))) return;
        Table.Limit(entry);
        _floor = Math.Max(_floor, entry.Clock);
        Table.Remove(entry);
        Cut?.Forget(entry);
        Snapshot.Forget(entry);
    }

    private void Touch(Entry entry)
    {
        if (entry.Touched) return;
        entry.Touched = true;
        _touched.Add(entry);
    }

    private void TouchAll(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++) Touch(op.Uses[i].Entry);
    }
}
