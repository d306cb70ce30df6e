using GroupCore.Runtime;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Ordering;

/// <summary>
/// Which proposals a participant takes into its order: what it knows of the put decides first, then what there is room for. "Nothing was executed" is never said of a put that was executed,
/// or may be yet. Source: dht-order.md#the-normal-case.
/// </summary>
internal sealed class Admission(DhtState state, IAnswers send, SessionTable sessions, HeldRecords records, LatePuts late)
{
    private const int MostUnheard = 16_384;

    /// <summary>
    /// Bytes of outcomes of departed members with which a view may begin. During the view, retries of their puts may add a quarter at most:
    /// beyond that, a retry that would add more is told that its outcome is forgotten.
    /// </summary>
    public long MostLostBytes { get; set; } = 4 * state.Own.MaxOutcomeBytes;

    /// <summary>
    /// The session of an operation. A member without its state may not know a session that its peers know; it keeps its refusals until the
    /// sessions come with the state. With its state it refuses unknown sessions for the whole view, since new ones come at view changes only.
    /// </summary>
    public Session? SessionOf(UInt128 id)
    {
        if (sessions.Find(id) is { } known) return known;
        if (state.Initialised || sessions.All.Count > MostUnheard) return null;
        var session = sessions.GetOrAdd(id);
        session.LostIn = Session.NotHeard;
        return session;
    }

    /// <summary>
    /// Whether a proposal of an attempt that is not held is taken. If it is not, its sender has been told why, or that an attempt at the put was executed; the caller discards the record.
    /// </summary>
    public bool Takes(ParticipantRecord op, Session? session, int from, ulong hint)
    {
        ulong sequence = op.Key.Id.Sequence;
        bool remembered = false;
        Outcome outcome = default;
        if (op.Kind.Changes && session is not null && state.Rules.OutcomeTable) remembered = Remembers(session, op.Key, out outcome);
        bool others = op.Kind.Changes && (remembered && !PutPayload.SamePairs(outcome.Payload, op.Payload) || records.HoldsOtherPairs(op));
        if (remembered && !others && IsOver(outcome, op) && MayTell(outcome, from))
        {
            // The outcome does not fit keys that are placed differently: even their number may differ.
            bool same = outcome.Payload == op.Payload;
            send.Executed(from, op.Key, op.Owner, same ? op.UseCount : 0, same ? outcome : default);
            return false;
        }
        RejectReason? refusal = null;
        if (session is null || sequence < session.AckedBelow || (state.Initialised && session.LostIn == Session.NotHeard)) refusal = RejectReason.Expired;
        else if (op.Kind.Changes && !remembered && session.IsLost && sessions.LostBytes >= MostLostBytes + (MostLostBytes / 4)) refusal = RejectReason.Expired;
        else if (others) refusal = remembered || records.HoldsFirst(op.Key.Id) ? RejectReason.Taken : RejectReason.OtherPairs;
        else if (session.IsRejected(op.Key) && state.Rules.RejectionRefusesLater) refusal = RejectReason.Rejected;
        else if (session.LostIn == Session.NotHeard || HoldsOtherPlaces(op, remembered, outcome) || (!op.Kind.Changes && !state.Initialised && state.Rules.OnlyInitialisedAnswers)) refusal = RejectReason.NotInitialised;
        else if (Overloaded(op, from)) refusal = RejectReason.Overloaded;
        else if (op.Kind.Changes && !session.IsOldest(sequence) && session.IsFull(state.Own.MaxOutcomeBytes)) refusal = RejectReason.OutcomesFull;
        else if (IsTooFarAhead(op, hint)) refusal = RejectReason.ClockAhead;
        if (refusal is not { } reason) return true;
        if (reason == RejectReason.ClockAhead) state.AskForView();
        // These reasons end a call with "nothing was executed".
        if ((reason is RejectReason.Overloaded or RejectReason.OutcomesFull or RejectReason.ClockAhead) && MayBeExecuted(op)) reason = RejectReason.NotInitialised;
        RefuseWith(reason, op, session, from);
        return false;
    }

    /// <summary>
    /// A proposal whose keys do not belong here by this member's hash: it can never be held. Where another attempt at the put was executed,
    /// the coordinator is still told so, since that needs no key; but without results if these are for another number of
    /// <paramref name="keys"/> than the coordinator has here: then it is the coordinator's hash that errs. The attempt is not held; the caller discards the record.
    /// </summary>
    public void Refuse(ParticipantRecord op, int from, int keys, RejectReason reason)
    {
        var session = SessionOf(op.Key.Id.Session);
        Outcome outcome = default;
        bool remembered = op.Kind.Changes && session is not null && Remembers(session, op.Key, out outcome);
        if (remembered && PutPayload.SamePairs(outcome.Payload, op.Payload) && IsOver(outcome, op) && MayTell(outcome, from))
        {
            bool same = outcome.Payload == op.Payload && keys == outcome.Versions.Count;
            send.Executed(from, op.Key, op.Owner, same ? keys : 0, same ? outcome : default);
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
    }

    /// <summary>
    /// Refuses an attempt for the rest of the view; if the issuer itself sent it, also all attempts below it. False if no more refusals
    /// can be remembered: then nothing is promised.
    /// </summary>
    public bool Refuses(Session? session, in AttemptId key, bool issued)
    {
        if (session is null || sessions.TryRefuse(session, key, issued)) return true;
        state.Node.Counters.Refuse(RefusalReason.Unexpected);
        return false;
    }

    /// <summary>
    /// What is known here of the put of an attempt. A member without its state tells only of the attempts that it executed itself: a late or
    /// forwarded proposal of such an attempt may come when its record has gone.
    /// </summary>
    private bool Remembers(Session session, in AttemptId key, out Outcome outcome) =>
        session.TryGet(key.Id.Sequence, out outcome) && (state.Initialised || (outcome.View == state.View && outcome.IsOf(key)));

    /// <summary>
    /// Whether the put was executed in an earlier view, or in this one by an attempt that has left the table: then all have its commit, and it
    /// is stable. It stays so: where no attempt is held, none is taken any more.
    /// </summary>
    private bool IsOver(in Outcome outcome, ParticipantRecord op) => outcome.View < state.View || outcome.IsOf(op.Key) || !records.HoldsPut(op.Key.Id);

    /// <summary>Whether an outcome can be told to a member now: its value may have to wait here for room on the link. If not, a later attempt is told, once less is owed.</summary>
    private bool MayTell(in Outcome outcome, int to) => outcome.Report?.Value is null || !send.OwesTooMuch(to);

    /// <summary>
    /// Whether the same put is held, or was executed and is not over, with some of its keys in another shard: members disagree about the hash.
    /// Two such attempts meet at the shards that both have: as with two puts, at most one is held by all its participants. At a member
    /// without its state, another put that it executed counts too.
    /// </summary>
    private bool HoldsOtherPlaces(ParticipantRecord op, bool remembered, in Outcome outcome)
    {
        if (!op.Kind.Changes) return false;
        for (var other = records.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (other.Kind.Changes && other.Payload != op.Payload) return true;
        // A member knows what it executed itself before its state comes. It may be alone with its state when the view ends: then no other member can be asked.
        return ((remembered || outcome.View == state.View) && outcome.Payload != op.Payload) || (late.TryLate(op.Key.Id, out ulong executed) && executed != op.Payload);
    }

    /// <summary>Whether another attempt at the put was executed here, or is held and may yet be executed.</summary>
    private bool MayBeExecuted(ParticipantRecord op) => op.Kind.Changes && (records.AttemptsOf(op.Key.Id) is not null || WasTaken(op));

    /// <summary>Whether another attempt had its turn here in this view, or an outcome is remembered. A read under the id does not count: not every replica holds it.</summary>
    public bool WasTaken(ParticipantRecord op)
    {
        if (!op.Kind.Changes) return false;
        for (var other = records.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (other.Kind.Changes && other.Executed) return true;
        return late.TryLate(op.Key.Id, out _) || (sessions.Find(op.Key.Id.Session) is { } session && session.TryGet(op.Key.Id.Sequence, out _));
    }

    private bool Overloaded(ParticipantRecord op, int from)
    {
        if (records.Count >= state.Own.MaxOperations || records.UnsettledBytes > DhtLimits.ContributionBytes || late.TooLate(op) || (op.BringsValues && send.OwesTooMuch(from))) return true;
        int attempts = 0;
        for (var other = records.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
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
}
