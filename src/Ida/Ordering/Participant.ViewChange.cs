using Ida.ViewChange;

namespace Ida.Ordering;

/// <summary>
/// View changes: what this member contributes, how it applies the decision (dht-view-change.md#the-normal-case, #commit-what-all-surviving-participants-hold), and how it begins to answer
/// when its state has come.
/// </summary>
internal sealed partial class Participant
{
    /// <summary>Every held put: its record stays until it is executed and stable here and its commit is known to have reached all participants.</summary>
    public void Contribute(List<UnsettledOperation> into)
    {
        for (var op = Records.Oldest; op is not null; op = op.Newer)
            if (op.Kind.Changes) into.Add(new(op.Key, op.Proposed, op.Committed ? op.Time : 0, op.Participants.ToArray()));
    }

    /// <summary>
    /// Applies the decided puts in (time, id) order and forgets everything else of the old view. Call before the view number rises: outcomes carry the old view.
    /// </summary>
    public void ApplyDecision(Decision decision)
    {
        var due = new List<ParticipantRecord>();
        for (var op = Records.Oldest; op is not null; op = op.Newer)
        {
            if (!op.Kind.Changes || !decision.TryCommit(op.Key, op.Participants, out ulong time)) continue;
            if (!op.Committed) op.Commit(time);
            if (!op.Stable) op.BecomeStable();
            _state.Clock.Commit(time);
            for (int i = 0; i < op.UseCount; i++)
            {
                var entry = op.Uses[i].Entry;
                entry.Clock = Math.Max(entry.Clock, time);
            }
            if (!op.Executed) due.Add(op);
        }
        due.Sort(static (a, b) => ParticipantRecord.Before(a, b) ? -1 : 1);
        foreach (var op in due)
        {
            op.Execute();
            Effects.MarkRepeats(op);
            if (_state.Initialised) Effects.Perform(op);
            else Late.ApplyAhead(op);
        }
        ForgetView();
    }

    /// <summary>Empties queues, readers and the table of operations; clocks and outcomes stay.</summary>
    public void ForgetView()
    {
        Late.Forget();
        Reads.Clear();
        _executor.Clear();
        for (var op = Records.Oldest; op is not null; op = op.Newer)
            for (int i = 0; i < op.UseCount; i++)
            {
                var entry = op.Uses[i].Entry;
                entry.Touched = false;
                _queues.TakeBack(entry);
                Slice.DropIfIdle(entry);
            }
        Records.Clear();
    }

    /// <summary>No view follows: drops everything, the pools too.</summary>
    public void Forget()
    {
        ForgetView();
        DropSlice();
        Records.ForgetFree();
        Reads.ForgetFree();
        _queues.Forget();
    }

    /// <summary>Another shard, or none: nothing of the old slice remains.</summary>
    public void DropSlice()
    {
        Slice.DropTable();
        Late.ForgetMarks();
        Sessions.Clear();
    }

    /// <summary>The state is complete: begins to answer.</summary>
    public void BecomeInitialised(ulong viewChangeClock)
    {
        Slice.RaiseFloor(viewChangeClock);
        _state.Clock.Commit(viewChangeClock);
        _state.Initialised = true;
        Late.Forget();
        DeleteKnownOutcomes();
        _executor.Pump();
    }

    /// <summary>
    /// Queued puts whose outcome came with the state are over for ever, as are puts that were acknowledged before its view change: the other
    /// members told their coordinator so. If they were kept, and those members were gone at the next view change, they would be applied again.
    /// A put that only repeats one executed in this view, and forgotten already, stays: this member has proposed it, so it may be committed.
    /// </summary>
    private void DeleteKnownOutcomes()
    {
        for (ParticipantRecord? op = Records.Oldest, next; op is not null; op = next)
        {
            next = op.Newer;
            if (op.Kind.Changes && !op.Committed && WasOver(op)) Withdraw(op);
        }
    }

    /// <summary>Whether the put was over before the view.</summary>
    private bool WasOver(ParticipantRecord op) => op.Key.Id.Sequence < Sessions.Find(op.Key.Id.Session)?.OverBelow
        || (Effects.TryOutcome(op, out var outcome) && outcome.View != 0 && outcome.View < _state.View);

    /// <summary>
    /// The state says that a put was over before the view and that its outcome is not kept: its held attempts are dropped at once, and later
    /// attempts are refused as acknowledged.
    /// </summary>
    public void DropAttempts(OperationId put)
    {
        for (ParticipantRecord? op = Records.AttemptsOf(put), next; op is not null; op = next)
        {
            next = op.OtherAttempt;
            if (op.Kind.Changes && !op.Committed) Withdraw(op);
        }
        _executor.Pump();
    }
}
