namespace Ida.Ordering;

/// <summary>
/// Executes committed operations in (time, id) order, and tells their coordinators when they are quiescent. An operation stays in the queues of its keys until it is executed and
/// stable; so "each conflicting predecessor is stable" means that no such operation stands in front. Source: dht-order.md#the-normal-case.
/// </summary>
internal sealed class Executor(DhtState state, IAnswers send, KeyQueues queues, Slice slice, HeldRecords records, Effects effects, LatePuts late, WaitingReads reads)
{
    private readonly List<Entry> _touched = [];

    /// <summary>Number of uses looked at so far, in search of due and quiescent operations.</summary>
    public long Looked { get; private set; }

    /// <summary>A key is looked at by the next <see cref="Pump"/>.</summary>
    public void Touch(Entry entry)
    {
        if (entry.Touched) return;
        entry.Touched = true;
        _touched.Add(entry);
    }

    public void TouchAll(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++) Touch(op.Uses[i].Entry);
    }

    /// <summary>Executes what is due at the touched keys, and tells what is quiescent and answered thereby.</summary>
    public void Pump()
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
                if (queue.FirstWait is not null) reads.Answer(entry, queue);
                queues.Rest(entry);
            }
            slice.DropIfIdle(entry);
        }
    }

    /// <summary>The view ends: no key is to be looked at.</summary>
    public void Clear() => _touched.Clear();

    private void ExecuteWhatIsDue(KeyQueue queue)
    {
        for (KeyUse? use = queue.Head, next; use is not null; use = next)
        {
            next = use.Next;
            var op = use.Op;
            if (op.Executed) continue;
            bool put = op.Kind.Changes;
            if (!op.Committed || !IsDue(op))
            {
                if (put) return;
                continue;
            }
            Execute(op);
        }
    }

    /// <summary>Whether every conflicting operation with a smaller place is executed, at all keys of the attempt.</summary>
    public bool IsDue(ParticipantRecord op)
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
        effects.MarkRepeats(op);
        if (state.Initialised || (!state.Rules.OnlyInitialisedAnswers && !op.Kind.Changes)) effects.Perform(op);
        else if (op.Kind.Changes) late.ApplyAhead(op);
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
                reads.Wait(entry);
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

    /// <summary>Executed and stable: leaves the queues, and the table once settled.</summary>
    public void Finish(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++)
        {
            op.Uses[i].Leave();
            Touch(op.Uses[i].Entry);
        }
        records.DropIfSettled(op);
    }
}
