using Ida.Shared;
using Ida.ViewChange;

namespace Ida.Ordering;

/// <summary>View changes: what this member contributes, and how it applies the decision (dht-view-change.md#the-normal-case,
/// #commit-what-all-surviving-participants-hold).</summary>
internal sealed partial class Participant
{
    /// <summary>Every held put: its record stays until it is executed and stable here and its commit is known to have reached all participants.</summary>
    public void Contribute(List<UnsettledOperation> into)
    {
        for (var op = _oldest; op is not null; op = op.Newer)
            if (op.Kind.Changes) into.Add(new(op.Key, op.Proposed, op.Committed ? op.Time : 0, op.Participants.ToArray()));
    }

    /// <summary>
    /// Applies the decided puts in (time, id) order and forgets everything else of the old view. Call before the view number rises: outcomes carry the old view.
    /// </summary>
    public void ApplyDecision(Decision decision)
    {
        var due = new List<ParticipantRecord>();
        for (var op = _oldest; op is not null; op = op.Newer)
        {
            if (!op.Kind.Changes || !decision.TryCommit(op.Key, op.Participants, out ulong time)) continue;
            if (!op.Committed) op.Commit(time);
            if (!op.Stable) op.BecomeStable();
            state.Clock.Commit(time);
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
            MarkRepeats(op);
            if (state.Initialised) Perform(op);
            else ApplyAhead(op);
        }
        ForgetView();
    }

    /// <summary>Empties queues, readers and the table of operations; clocks and outcomes stay.</summary>
    public void ForgetView()
    {
        ForgetLate();
        foreach (var entry in _waiting)
        {
            _queues.TakeBack(entry);
            entry.Awaited = false;
            DropIfIdle(entry);
        }
        _waiting.Clear();
        HasWaits = false;
        _readsWaiting = 0;
        _touched.Clear();
        for (var op = _oldest; op is not null; op = op.Newer)
            for (int i = 0; i < op.UseCount; i++)
            {
                var entry = op.Uses[i].Entry;
                entry.Touched = false;
                _queues.TakeBack(entry);
                DropIfIdle(entry);
            }
        for (ParticipantRecord? op = _oldest, next; op is not null; op = next)
        {
            next = op.Newer;
            Recycle(op);
        }
        _ops.Clear();
        _oldest = _newest = null;
        _unsettledBytes = 0;
    }

    /// <summary>
    /// After the clocks were aligned: a time that a wrong clock proposed, and that was never committed, does not stay the least time of its
    /// key, or of absent keys. No time orders the old view's operations with the new view's; only versions go on.
    /// </summary>
    public void LimitClocks()
    {
        ulong most = state.Clock.Limit(state.Node.Now) - HybridClock.Jump + 1;
        _floor = Math.Min(_floor, most);
        if (!state.Clock.WasAhead) return;
        Table.LimitClocks(most);
        LimitSome();
    }

    /// <summary>Goes on limiting clocks, within the bound of a turn.</summary>
    public void LimitSome() => Table.LimitSome(LimitedPerTurn);

    /// <summary>No view follows: drops everything, the pools too.</summary>
    public void Forget()
    {
        ForgetView();
        DropSlice();
        _records.Clear();
        _records.TrimExcess();
        _pooledUses = 0;
        _waits.Clear();
        _waits.TrimExcess();
        _queues.Forget();
    }

    /// <summary>Another shard, or none: nothing of the old slice remains.</summary>
    public void DropSlice()
    {
        Table = new();
        _oldMarks.Clear();
        Sessions.Clear();
    }
}
