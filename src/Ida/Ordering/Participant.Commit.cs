using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Shared;

namespace Ida.Ordering;

/// <summary>From the commit to stability; aborts and takeovers.</summary>
internal sealed partial class Participant
{
    /// <summary>All participants have proposed: the operation has its time.</summary>
    public void Commit(in AttemptId key, int owner, int from, OperationKind kind, ulong time, bool stable)
    {
        var op = Records.Find(key);
        // A refused commit settles nothing.
        bool refused = op is not null && (!Drives(from, op) || (time < op.Proposed && _state.Rules.TimeOverAll));
        CommitGarbageCollection.CommitArrived(from, refused ? null : op);
        if (op is null)
        {
            // An attempt leaves the table only when executed and stable, and a put only when all participants have its commit.
            if (!stable && (!kind.Changes || !_state.Initialised || WasExecuted(key))) _send.Stable(from, key, owner);
            else if (!stable) _state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        if (refused)
        {
            _state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        AddCoordinator(op, from);
        if (!op.Committed) SetTime(op, time);
        else if (op.Time != time) _state.Node.Counters.Refuse(RefusalReason.Unexpected);
        else if (op.Told == QuiescencePhase.Quiescent && !op.Stable && !stable) _send.Quiescent(from, op, early: false);
        if (stable && !op.Stable) op.BecomeStable();
        // A waiting read changes nothing for other operations: it is looked at again when the put before it is executed, moves or goes.
        if (!op.Kind.Changes && time == op.Proposed && !op.Executed && !_executor.IsDue(op)) return;
        _executor.TouchAll(op);
        if (op.Phase == RecordPhase.Finished) _executor.Finish(op);
        _executor.Pump();
    }

    /// <summary>
    /// A commit whose time this member may not take. The flush brings it, if its sender keeps its record until then: so no more of this
    /// sender's commits are counted in this view.
    /// </summary>
    public void RefuseCommit(int from)
    {
        _state.Node.Counters.Refuse(RefusalReason.Unexpected);
        CommitGarbageCollection.StopCounting(from);
        _state.AskForView();
    }

    private bool WasExecuted(in AttemptId key) =>
        Sessions.Find(key.Id.Session) is { } session && (session.TryGet(key.Id.Sequence, out _) || key.Id.Sequence < session.AckedBelow);

    private void SetTime(ParticipantRecord op, ulong time)
    {
        if (!op.Commit(time)) return;
        _state.Clock.Commit(time);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            var entry = use.Entry;
            if (_state.Rules.CommitAdvancesClocks) entry.Clock = Math.Max(entry.Clock, time);
            if (time == op.Proposed) continue;
            use.Leave();
            _queues.Of(entry).Enqueue(use);
        }
    }

    /// <summary>
    /// Whether a member may say how a held attempt ends: a participant, since it may have taken the attempt over; or its issuer. The issuer is the member that
    /// numbers these attempts, or, where attempts carry the hash of their pairs, any member that has proposed this one.
    /// </summary>
    private bool Drives(int from, ParticipantRecord op) =>
        from == _state.Rank || (op.Key.Payload == 0 ? _state.SessionOfRank[from] == op.Key.Id.Session : op.Coordinators.Contains(from)) || TakesPart(from, op);

    /// <summary>Whether a member is a participant of an attempt: only participants take it over.</summary>
    public bool TakesPart(int from, ParticipantRecord op) => op.Participants.Contains((ushort)_state.Map!.SlotOfRank(from));

    /// <summary>Every participant has executed the attempt and all before it. False if the sender may not say so.</summary>
    public bool Stable(in AttemptId key, int from)
    {
        if (Records.Find(key) is not { } op) return true;
        if (!Drives(from, op) || !op.Committed)
        {
            _state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        if (op.Stable) return true;
        op.BecomeStable();
        _executor.TouchAll(op);
        if (op.Phase == RecordPhase.Finished) _executor.Finish(op);
        _executor.Pump();
        return true;
    }

    /// <summary>
    /// The attempt can never commit. It is rejected from now on, so that no late message brings it back. False if its commit is here: the
    /// commit holds. Null if the rejection cannot be remembered, or if the sender may not say so.
    /// </summary>
    public bool? Abort(in AttemptId key, int from)
    {
        bool issued = false;
        if (Records.Find(key) is { } op)
        {
            if (!Drives(from, op))
            {
                _state.Node.Counters.Refuse(RefusalReason.Unexpected);
                return null;
            }
            // An honest sender may do this: a member that has settled the attempt told it Executed.
            if (op.Committed) return false;
            issued = op.Issued;
            Withdraw(op);
            _executor.Pump();
        }
        return Admission.Refuses(Sessions.Find(key.Id.Session), key, issued) ? true : null;
    }

    /// <summary>A held attempt that has no time never gets one here.</summary>
    private void Withdraw(ParticipantRecord op)
    {
        _executor.TouchAll(op);
        for (int i = 0; i < op.UseCount; i++) op.Uses[i].Leave();
        Records.Remove(op);
    }

    /// <summary>A takeover asks what this member holds; with <paramref name="reject"/>, an attempt not held is rejected from now on.</summary>
    public void Recover(in AttemptId key, int owner, int from, OperationKind kind, bool reject, bool withTime)
    {
        if (Records.Find(key) is { } op)
        {
            if (!TakesPart(from, op))
            {
                _state.Node.Counters.Refuse(RefusalReason.Unexpected);
                return;
            }
            AddCoordinator(op, from);
            Answer(op, from);
            return;
        }
        if (Admission.SessionOf(key.Id.Session) is not { } session)
        {
            _send.Rejected(from, key, owner, RejectReason.Expired);
            return;
        }
        if (kind.Changes && _state.Initialised && session.TryGet(key.Id.Sequence, out var outcome))
        {
            // This attempt was executed in this view and has left the table: it is settled.
            if (outcome.View == _state.View && outcome.IsOf(key))
            {
                _send.Stable(from, key, owner);
                return;
            }
            // The outcome of another attempt makes this one void. It is not told as Executed: the answer may come to a caller's retry that is driven there under
            // the same key meanwhile, while other participants have not executed the put yet.
            reject = true;
        }
        bool refused = session.IsRejected(key);
        if (!refused && !reject)
        {
            _send.NotHeld(from, key, owner, withTime);
            return;
        }
        if (refused || Admission.Refuses(session, key, issued: false)) _send.Rejected(from, key, owner, RejectReason.Rejected);
    }

    /// <summary>Every participant has the commit: no flush needs the record any more.</summary>
    public void Settle(ParticipantRecord op)
    {
        if (op.Settle()) Records.DropIfSettled(op);
    }

    /// <summary>Looks again at the reads that wait until this member may answer.</summary>
    public void Retry()
    {
        Reads.BeginLook();
        for (var op = Records.Oldest; op is not null; op = op.Newer)
            if (!op.Kind.Changes && op.Committed) _executor.TouchAll(op);
        foreach (var entry in Reads.Keys) _executor.Touch(entry);
        _executor.Pump();
        Reads.EndLook();
    }
}
