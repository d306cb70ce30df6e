using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Shared;

namespace Ida.Ordering;

/// <summary>From the commit to stability.</summary>
internal sealed partial class Participant
{
    /// <summary>All participants have proposed: the operation has its time.</summary>
    public void Commit(in AttemptId key, int owner, int from, OperationKind kind, ulong time, bool stable)
    {
        var op = _ops.Find(key);
        // A refused commit settles nothing.
        bool refused = op is not null && (!Drives(from, op) || (time < op.Proposed && state.Rules.TimeOverAll));
        CommitGarbageCollection.CommitArrived(from, refused ? null : op);
        if (op is null)
        {
            // An attempt leaves the table only when executed and stable, and a put only when all participants have its commit.
            if (!stable && (!kind.Changes || !state.Initialised || WasExecuted(key))) send.Stable(from, key, owner);
            else if (!stable) state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        if (refused)
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        AddCoordinator(op, from);
        if (!op.Committed) SetTime(op, time);
        else if (op.Time != time) state.Node.Counters.Refuse(RefusalReason.Unexpected);
        else if (op.Told == QuiescencePhase.Quiescent && !op.Stable && !stable) send.Quiescent(from, op, early: false);
        if (stable && !op.Stable) op.BecomeStable();
        // A waiting read changes nothing for other operations: it is looked at again when the put before it is executed, moves or goes.
        if (!op.Kind.Changes && time == op.Proposed && !op.Executed && !Due(op)) return;
        TouchAll(op);
        if (op.Phase == RecordPhase.Finished) Finish(op);
        Pump();
    }

    /// <summary>
    /// A commit whose time this member may not take. The flush brings it, if its sender keeps its record until then: so no more of this
    /// sender's commits are counted in this view.
    /// </summary>
    public void RefuseCommit(int from)
    {
        state.Node.Counters.Refuse(RefusalReason.Unexpected);
        CommitGarbageCollection.StopCounting(from);
        AskForView();
    }

    private bool WasExecuted(in AttemptId key) =>
        Sessions.Find(key.Id.Session) is { } session && (session.TryGet(key.Id.Sequence, out _) || key.Id.Sequence < session.AckedBelow);

    private void SetTime(ParticipantRecord op, ulong time)
    {
        if (!op.Commit(time)) return;
        state.Clock.Commit(time);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            var entry = use.Entry;
            if (state.Rules.CommitAdvancesClocks) entry.Clock = Math.Max(entry.Clock, time);
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
        from == state.Rank || (op.Key.Payload == 0 ? state.SessionOfRank[from] == op.Key.Id.Session : op.Coordinators.Contains(from)) || TakesPart(from, op);

    /// <summary>Whether a member is a participant of an attempt: only participants take it over.</summary>
    public bool TakesPart(int from, ParticipantRecord op) => op.Participants.Contains((ushort)state.Map!.SlotOfRank(from));

    /// <summary>Every participant has executed the attempt and all before it. False where this member may not say so.</summary>
    public bool Stable(in AttemptId key, int from)
    {
        if (_ops.Find(key) is not { } op) return true;
        if (!Drives(from, op) || !op.Committed)
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        if (op.Stable) return true;
        op.BecomeStable();
        TouchAll(op);
        if (op.Phase == RecordPhase.Finished) Finish(op);
        Pump();
        return true;
    }

    /// <summary>
    /// The attempt can never commit. It is rejected from now on, so that no late message brings it back. False where its commit is here: the
    /// commit holds. Null where the rejection cannot be remembered, or where this member may not say so.
    /// </summary>
    public bool? Abort(in AttemptId key, int from)
    {
        bool issued = false;
        if (_ops.Find(key) is { } op)
        {
            if (!Drives(from, op))
            {
                state.Node.Counters.Refuse(RefusalReason.Unexpected);
                return null;
            }
            // The sender may abort it all the same: a member that has settled the attempt told it Executed.
            if (op.Committed) return false;
            issued = op.Issued;
            TouchAll(op);
            for (int i = 0; i < op.UseCount; i++) op.Uses[i].Leave();
            Remove(op);
            Pump();
        }
        return Refuses(Sessions.Find(key.Id.Session), key, issued) ? true : null;
    }

    /// <summary>A takeover asks what this member holds; with <paramref name="reject"/>, an attempt not held is rejected from now on.</summary>
    public void Recover(in AttemptId key, int owner, int from, OperationKind kind, bool reject, bool withTime)
    {
        if (_ops.Find(key) is { } op)
        {
            if (!TakesPart(from, op))
            {
                state.Node.Counters.Refuse(RefusalReason.Unexpected);
                return;
            }
            AddCoordinator(op, from);
            Answer(op, from);
            return;
        }
        if (SessionOf(key.Id.Session) is not { } session)
        {
            send.Rejected(from, key, owner, RejectReason.Expired);
            return;
        }
        if (kind.Changes && state.Initialised && session.TryGet(key.Id.Sequence, out var outcome))
        {
            // This attempt was executed in this view and has left the table: it is settled.
            if (outcome.View == state.View && outcome.IsOf(key))
            {
                send.Stable(from, key, owner);
                return;
            }
            // The outcome of another attempt makes this one void. It is not told as Executed: the answer may come to a caller's retry that is driven there under
            // the same key meanwhile, while other participants have not executed the put yet.
            reject = true;
        }
        bool refused = session.IsRejected(key);
        if (!refused && !reject)
        {
            send.NotHeld(from, key, owner, withTime);
            return;
        }
        if (refused || Refuses(session, key, issued: false)) send.Rejected(from, key, owner, RejectReason.Rejected);
    }

    /// <summary>Every participant has the commit: no flush needs the record any more.</summary>
    public void Settle(ParticipantRecord op)
    {
        if (op.Settle()) DropIfSettled(op);
    }

    /// <summary>Looks again at the reads that wait for the right to answer.</summary>
    public void Retry()
    {
        HasWaits = false;
        for (var op = _oldest; op is not null; op = op.Newer)
            if (!op.Kind.Changes && op.Committed) TouchAll(op);
        foreach (var entry in _waiting) Touch(entry);
        Pump();
        _waiting.RemoveAll(static entry => !(entry.Awaited = entry.Queue?.FirstWait is not null));
        // Operations in the queues wait too: keep what the loop above found.
        HasWaits |= _waiting.Count > 0;
    }

    private void Pump()
    {
        while (_touched.Count > 0)
        {
            var entry = _touched[^1];
            _touched.RemoveAt(_touched.Count - 1);
            entry.Touched = false;
            if (entry.Queue is { } queue)
            {
                ExecuteWhatIsDue(queue);
                TellWhatIsQuiescent(entry, queue);
                if (queue.FirstWait is not null) AnswerReads(entry, queue);
                _queues.Rest(entry);
            }
            DropIfIdle(entry);
        }
    }

    private void ExecuteWhatIsDue(KeyQueue queue)
    {
        for (KeyUse? use = queue.Head, next; use is not null; use = next)
        {
            next = use.Next;
            var op = use.Op;
            if (op.Executed) continue;
            bool put = op.Kind.Changes;
            if (!op.Committed || !Due(op))
            {
                if (put) return;
                continue;
            }
            Execute(op);
        }
    }

    /// <summary>Whether every conflicting operation with a smaller place is executed, at all keys of the attempt.</summary>
    private bool Due(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.NextHeld();
            Looked++;
            if (!op.Kind.Changes)
            {
                if (use.Entry.Queue?.FirstUnexecuted is { } put && ParticipantRecord.Before(put.Op, op)) return false;
            }
            else
            {
                for (var before = use.Previous; before is not null; before = before.Previous)
                {
                    Looked++;
                    if (!before.Op.Executed) return false;
                }
            }
            op.Held++;
        }
        return true;
    }

    private void Execute(ParticipantRecord op)
    {
        if (!op.Execute()) return;
        MarkRepeats(op);
        if (state.Initialised || (!state.Rules.OnlyInitialisedAnswers && !op.Kind.Changes)) Perform(op);
        else if (op.Kind.Changes) ApplyAhead(op);
        TouchAll(op);
        if (op.Stable) Finish(op);
    }

    private void TellWhatIsQuiescent(Entry entry, KeyQueue queue)
    {
        for (KeyUse? use = queue.Head, next; use is not null; use = next)
        {
            next = use.Next;
            var op = use.Op;
            if (!op.Executed)
            {
                if (op.Kind.Changes) return;
                continue;
            }
            // A coordinator that was told with the proposal knows it already.
            if (op.Told is QuiescencePhase.AtProposal or QuiescencePhase.Quiescent) continue;
            if (!op.Kind.Changes && !state.CanAnswer)
            {
                Wait(entry);
                continue;
            }
            if (!IsQuiescent(op))
            {
                if (op.Kind.Changes || op.Level != ConsistencyLevel.Ordered || op.Told == QuiescencePhase.Early) continue;
                op.Tell(QuiescencePhase.Early);
                foreach (int coordinator in op.Coordinators) send.Quiescent(coordinator, op, early: true);
                continue;
            }
            op.Tell(QuiescencePhase.Quiescent);
            foreach (int coordinator in op.Coordinators) send.Quiescent(coordinator, op, early: false);
            if (op.Single && op.BecomeStable()) Finish(op);
        }
    }

    private bool IsQuiescent(ParticipantRecord op)
    {
        if (!state.Rules.QuiescentIncludesPredecessors) return true;
        bool puts = !op.Kind.Changes || !state.Rules.QuiescentIncludesReads;
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.NextHeld();
            Looked++;
            if (puts ? use.Entry.Queue?.FirstPut is { } first && first != use && ParticipantRecord.Before(first.Op, op) : use.Previous is not null) return false;
            op.Held++;
        }
        return true;
    }

    /// <summary>Executed and stable: leaves the queues, and the table once settled. A flush does not ask for reads.</summary>
    private void Finish(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++)
        {
            op.Uses[i].Leave();
            Touch(op.Uses[i].Entry);
        }
        DropIfSettled(op);
    }

    private void DropIfSettled(ParticipantRecord op)
    {
        if (op.Phase != RecordPhase.Finished || (op.Kind.Changes && !op.Settled)) return;
        if (op.LateUses == 0) Remove(op);
        else if (op.Move(RecordPhase.Late)) LeaveTable(op);
    }
}
