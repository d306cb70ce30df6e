using Ida.Wire;

namespace Ida.Ordering;

/// <summary>
/// A member without its state applies the puts of its view at their turn, as an initialised one does, and answers nothing: so writers
/// never wait for a transfer, however long it takes. Source: dht-view-change.md#newcomers-apply-puts-before-their-state, #newcomers-order-and-do-not-answer.
/// </summary>
/// <remarks>
/// The result of a put without resolver does not depend on the old value: initialised members propose above every version they gave, so the time
/// of a put of this view is above the versions at the view change. A later value from the transfer for such a key is ignored; a removed key
/// leaves an entry for that, a mark. A resolver needs the value at the view change: it is here where its range has arrived, else the source is
/// asked at once, and the use waits, as do later uses of the same key. A put's outcome is recorded when its last use is applied.
/// A source may say of many ranges at once that they are here. What waited for them is then handled over several turns; the member is initialised only after that.
/// Bounded: kept values lie in the slice as at any replica; waiting uses and marks are bounded by <see cref="DhtLimits.LateBytes"/>. Beyond
/// it, puts that would need more of them are refused: the source cannot send as fast as removals, and puts with resolvers, arrive for its shard.
/// </remarks>
internal sealed partial class Participant
{
    private const int EntryBytes = 300, SweptPerTurn = 2048;
    private readonly Dictionary<Entry, (KeyUse First, KeyUse Last)> _late = [];

    // By put: the payload of its attempt that was executed.
    private readonly Dictionary<OperationId, ulong> _lateOps = [];
    private readonly RangedEntries _lateOf = new(), _marks = new();

    // Ranges that have arrived and for which uses or marks still wait; marks of earlier views.
    private readonly Queue<int> _arrived = new();
    private readonly List<Entry> _oldMarks = [];
    private readonly List<Entry> _cleared = [];
    private long _lateBytes;

    /// <summary>Knows how much of the state has arrived, and asks for the missing values.</summary>
    public Transfer.StateSink Sink { get; set; } = null!;

    /// <summary>Whether a use of the entry waits for the value at the view change.</summary>
    public bool IsLate(Entry entry) => _late.ContainsKey(entry);

    /// <summary>Whether the entry stands for a removal that the transfer must not undo.</summary>
    public bool IsMark(Entry entry) => !state.Initialised && entry.Value is null && entry.KnownIn == (uint)state.View && !Sink.Has(EntryTable.RangeOf(entry.Hash));

    /// <summary>A put has its turn.</summary>
    private void ApplyAhead(ParticipantRecord op)
    {
        bool repeats = TryOutcome(op, out _) || _lateOps.ContainsKey(op.Key.Id);
        if (repeats)
        {
            HoldOnce(op);
            return;
        }
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            if (_late.ContainsKey(use.Entry) || (use.Resolver != 0 && !Knows(use.Entry))) Postpone(use);
            else ApplyAhead(use);
        }
        if (op.LateUses == 0) RecordOutcome(op);
        else
        {
            // The record may leave the table before its outcome is recorded.
            HoldOnce(op);
            _lateOps.Add(op.Key.Id, op.Payload);
        }
    }

    private bool Knows(Entry entry) => entry.KnownIn == (uint)state.View || Sink.Has(EntryTable.RangeOf(entry.Hash));

    private void ApplyAhead(KeyUse use)
    {
        var entry = use.Entry;
        Compute(use, use.Op.Time);
        if (use.Error is null)
        {
            bool marked = IsMark(entry);
            Sink.Change(entry, use.Value, use.Version);
            state.Clock.Commit(use.Version);
            entry.KnownIn = (uint)state.View;
            bool mark = IsMark(entry);
            SetMark(entry, marked, mark);
            if (mark && !marked) Sink.Want(entry);
        }
        if (!use.Op.Stable) entry.Writer = use.Op;
    }

    private void SetMark(Entry entry, bool before, bool now)
    {
        if (before == now) return;
        if (now) _marks.Add(entry);
        else _marks.Remove(entry);
    }

    private void Postpone(KeyUse use)
    {
        use.Op.LateUses++;
        _lateBytes += EntryBytes + (use.Incoming?.Length ?? 0);
        if (_late.TryGetValue(use.Entry, out var uses))
        {
            uses.Last.Later = use;
            _late[use.Entry] = (uses.First, use);
            return;
        }
        _late.Add(use.Entry, (use, use));
        _lateOf.Add(use.Entry);
        Sink.Want(use.Entry);
    }

    /// <summary>The transfer brings an entry; an entry that was written here since the view change stays unchanged.</summary>
    public void Receive(ReadOnlySpan<byte> key, ulong place, ulong version, ReadOnlySpan<byte> value)
    {
        var entry = Table.FindOrAdd(key, place, _floor);
        if (entry.KnownIn == (uint)state.View) return;
        Sink.Change(entry, value.ToArray(), version);
        Know(entry);
    }

    /// <summary>The source's answer for a key that was asked for: its value at the view change, or that it had none.</summary>
    public void Receive(Entry entry, bool present, byte[]? value, ulong version)
    {
        if (IsLate(entry))
        {
            Sink.Change(entry, value, version);
            Know(entry);
        }
        else if (!present && IsMark(entry))
        {
            // No value will come that the mark has to hold off.
            entry.KnownIn = 0;
            SetMark(entry, true, false);
            DropIfIdle(entry);
        }
    }

    /// <summary>The value at the view change has arrived: applies the uses that waited for it, and returns their number.</summary>
    private int Know(Entry entry)
    {
        entry.KnownIn = (uint)state.View;
        if (_late.Count == 0 || !_late.Remove(entry, out var uses)) return 0;
        int applied = 0;
        _lateOf.Remove(entry);
        SetMark(entry, false, IsMark(entry));
        for (KeyUse? use = uses.First, next; use is not null; use = next)
        {
            next = use.Later;
            use.Later = null;
            applied++;
            _lateBytes -= EntryBytes + (use.Incoming?.Length ?? 0);
            ApplyAhead(use);
            var op = use.Op;
            if (--op.LateUses > 0) continue;
            RecordOutcome(op);
            _lateOps.Remove(op.Key.Id);
            if (op.Phase != RecordPhase.Late) DropIfSettled(op);
            else if (op.Move(RecordPhase.Free)) Recycle(op);
        }
        return applied;
    }

    /// <summary>The whole range has arrived: a key that it did not bring was absent at the view change.</summary>
    public void RangeArrived(int range)
    {
        if (_lateOf.HasAny(range) || _marks.HasAny(range)) _arrived.Enqueue(range);
    }

    /// <summary>Whether there are waiting uses or marks that no turn has handled yet.</summary>
    public bool HasArrived => _arrived.Count > 0 || _oldMarks.Count > 0;

    /// <summary>
    /// Handles what waited for ranges that have arrived, within the bound of a turn: uses get the values, and marks are dropped. True when no
    /// use waits for these ranges any more.
    /// </summary>
    public bool TakeArrived()
    {
        int left = SweptPerTurn;
        while (left > 0 && _arrived.TryPeek(out int range))
        {
            left--;
            if (_lateOf.TryTake(range, out var entry)) left -= Know(entry);
            else if (!_marks.TryTake(range, out entry)) _ = _arrived.Dequeue();
            if (entry is not null) DropIfIdle(entry);
        }
        int from = Math.Max(0, _oldMarks.Count - Math.Max(0, left));
        for (int i = _oldMarks.Count - 1; i >= from; i--) DropIfIdle(_oldMarks[i]);
        _oldMarks.RemoveRange(from, _oldMarks.Count - from);
        return _arrived.Count == 0;
    }

    /// <summary>Empties a range before the state of a newer view change is written into it, except for entries written since.</summary>
    public void ClearRange(int range)
    {
        Table.CopyRange(range, _cleared);
        foreach (var entry in _cleared)
        {
            if (entry.KnownIn == (uint)state.View) continue;
            Sink.Change(entry, null, 0);
            DropIfIdle(entry);
        }
        _cleared.Clear();
    }

    /// <summary>Whether a put would have to be kept for later although too much is kept already.</summary>
    private bool TooLate(ParticipantRecord op)
    {
        if (state.Initialised || _lateBytes + ((long)_marks.Count * EntryBytes) <= DhtLimits.LateBytes) return false;
        for (int i = 0; i < op.UseCount; i++)
            if (op.Uses[i].Incoming is null || IsLate(op.Uses[i].Entry) || (op.Uses[i].Resolver != 0 && !Knows(op.Uses[i].Entry))) return true;
        return false;
    }

    /// <summary>The state is complete: begins to answer.</summary>
    public void BecomeInitialised(ulong viewChangeClock)
    {
        _floor = Math.Max(_floor, viewChangeClock);
        state.Clock.Commit(viewChangeClock);
        state.Initialised = true;
        ForgetLate();
        DeleteKnownOutcomes();
        Pump();
    }

    private void ForgetLate()
    {
        _late.Clear();
        _lateOps.Clear();
        _lateOf.Clear();
        _arrived.Clear();
        _marks.MoveTo(_oldMarks);
        _lateBytes = 0;
    }
}
