using Ida.Wire;

namespace Ida.Ordering;

/// <summary>
/// A member without its state applies the puts of its view at their turn, as an initialised one does, and answers nothing: so writers
/// never wait for a transfer, however long it takes. Source: dht-view-change.md#newcomers-apply-puts-before-their-state, #newcomers-order-and-do-not-answer.
/// </summary>
/// <remarks>
/// A value that replaces another does not depend on the old one: initialised members propose above every version they gave, so the time
/// of a put of this view is above the versions at the view change. A later value from the transfer for such a key is ignored; for that, a removed key
/// leaves an entry, a mark. A merge, a removal and an expectation need the value at the view change. If its range has arrived, the value is here;
/// else the source is asked at once, and the use waits in the line of its key, as do later uses of the same key. If one key may keep the others
/// from being applied, all uses of the put wait until it is first in all its lines. A put's outcome is recorded when its last use is applied.
/// A source may say of many ranges at once that they are here. What waited for them is then handled over several turns; the member is initialised only after that.
/// Bounded: kept values lie in the slice as at any replica; waiting uses and marks are bounded by <see cref="DhtLimits.LateBytes"/>. Beyond
/// it, puts that would need more of them are refused: the source cannot send as fast as merges, removals and conditional puts arrive for its shard.
/// </remarks>
internal sealed class LatePuts(DhtState state, Slice slice, Effects effects, HeldRecords records)
{
    private const int SweptPerTurn = 2048;
    private readonly KeyLines _lines = new();
    private readonly Stack<Entry> _advancing = [];

    // By put: the payload of its attempt that was executed.
    private readonly Dictionary<OperationId, ulong> _lateOps = [];

    private readonly RangedEntries _marks = new();

    // Ranges that have arrived and for which uses or marks still wait; marks of earlier views.
    private readonly Queue<int> _arrived = new();

    private readonly List<Entry> _oldMarks = [];
    private readonly List<Entry> _cleared = [];

    /// <summary>Knows how much of the state has arrived, and asks for the missing values.</summary>
    public IArrivingState Sink { get; set; } = null!;

    /// <summary>Whether an absent key has to keep its entry.</summary>
    public bool Needs(Entry entry) => IsMark(entry) || _lines.Has(entry);

    /// <summary>The put of an attempt that was executed here and not yet applied at all keys: the payload of that attempt.</summary>
    public bool TryLate(in OperationId put, out ulong payload) => _lateOps.TryGetValue(put, out payload);

    /// <summary>Whether a use of the entry waits for the value at the view change.</summary>
    public bool IsLate(Entry entry) => _lines.Has(entry) && !Knows(entry);

    /// <summary>Whether the entry stands for a removal that the transfer must not undo.</summary>
    public bool IsMark(Entry entry) => !state.Initialised && entry.Value is null && entry.KnownIn == (uint)state.View && !entry.WasAbsent && !Sink.Has(EntryTable.RangeOf(entry.Hash));

    /// <summary>A put has its turn.</summary>
    public void ApplyAhead(ParticipantRecord op)
    {
        bool repeats = effects.TryOutcome(op, out _) || _lateOps.ContainsKey(op.Key.Id);
        if (repeats)
        {
            effects.HoldOnce(op);
            return;
        }
        op.Report = null;
        bool together = op.IsConditional, waits = together && AnyWaits(op);
        if (together && !waits) ApplyTogether(op);
        for (int i = 0; i < op.UseCount && (waits || !together); i++)
        {
            if (waits || Waits(op.Uses[i])) Postpone(op.Uses[i]);
            else ApplyAlone(op.Uses[i]);
        }
        if (op.LateUses == 0) effects.RecordOutcome(op);
        else
        {
            // The record may leave the table before its outcome is recorded.
            effects.HoldOnce(op);
            _lateOps.Add(op.Key.Id, op.Payload);
        }
    }

    private bool Knows(Entry entry) => entry.KnownIn == (uint)state.View || Sink.Has(EntryTable.RangeOf(entry.Hash));

    private bool Waits(KeyUse use) => _lines.Has(use.Entry) || (use.NeedsValue && !Knows(use.Entry));

    private bool AnyWaits(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++)
            if (Waits(op.Uses[i])) return true;
        return false;
    }

    private void ApplyTogether(ParticipantRecord op)
    {
        effects.Compute(op, op.Time);
        for (int i = 0; i < op.UseCount; i++) Apply(op.Uses[i]);
    }

    private void ApplyAlone(KeyUse use)
    {
        // This cannot fail: puts that may fail are applied together.
        _ = effects.Compute(use, use.Op.Time);
        Apply(use);
    }

    private void Apply(KeyUse use)
    {
        var entry = use.Entry;
        if (Effects.Changes(use))
        {
            bool marked = IsMark(entry);
            Sink.Change(entry, use.Value, use.Version);
            state.Clock.Commit(use.Version);
            entry.Know((uint)state.View);
            bool mark = IsMark(entry);
            SetMark(entry, marked, mark);
            if (mark && !marked) Sink.Want(entry);
        }
        if (!use.Op.Stable && entry.Queue is { } queue) queue.Writer = use.Op;
    }

    private void SetMark(Entry entry, bool before, bool now)
    {
        if (before == now) return;
        if (now) _marks.Add(entry);
        else _marks.Remove(entry);
    }

    private void Postpone(KeyUse use)
    {
        bool known = Knows(use.Entry);
        _lines.Add(use, known);
        if (!known && use.NeedsValue) Sink.Want(use.Entry);
    }

    /// <summary>The transfer brings an entry; an entry that was written here since the view change stays unchanged.</summary>
    public void Receive(ReadOnlySpan<byte> key, ulong place, ulong version, ReadOnlySpan<byte> value)
    {
        var entry = slice.EntryOf(key, place);
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
            Know(entry, wasAbsent: !present);
        }
        else if (!present && entry.KnownIn == (uint)state.View)
        {
            bool marked = IsMark(entry);
            // No value will come that a mark has to hold off.
            entry.Know((uint)state.View, wasAbsent: true);
            SetMark(entry, marked, IsMark(entry));
        }
        slice.DropIfIdle(entry);
    }

    /// <summary>The value at the view change has arrived: applies the uses that waited for it, and returns their number.</summary>
    private int Know(Entry entry, bool wasAbsent = false)
    {
        entry.Know((uint)state.View, wasAbsent);
        if (!_lines.Has(entry)) return 0;
        _lines.Know(entry);
        SetMark(entry, false, IsMark(entry));
        int applied = 0;
        _advancing.Push(entry);
        while (_advancing.TryPop(out var next))
        {
            applied += Advance(next);
            // Another key of a put that was applied together may only have been checked, and be absent.
            if (next != entry) slice.DropIfIdle(next);
        }
        return applied;
    }

    /// <summary>Applies what may be applied at the head of an entry's line; a put that is applied together moves the lines of its other keys too.</summary>
    private int Advance(Entry entry)
    {
        int applied = 0;
        while (_lines.TryFirst(entry, out var first) && IsReady(first))
        {
            var op = first.Op;
            if (!op.IsConditional)
            {
                _lines.Take(first);
                ApplyAlone(first);
                applied++;
            }
            else
            {
                for (int i = 0; i < op.UseCount; i++)
                {
                    _lines.Take(op.Uses[i]);
                    if (op.Uses[i].Entry != entry) _advancing.Push(op.Uses[i].Entry);
                }
                ApplyTogether(op);
                applied += op.UseCount;
            }
            if (op.LateUses == 0) EndLate(op);
        }
        return applied;
    }

    /// <summary>Whether the first use of a line may be applied.</summary>
    private bool IsReady(KeyUse first)
    {
        var op = first.Op;
        if (!op.IsConditional) return !first.NeedsValue || Knows(first.Entry);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            if (!_lines.IsFirst(use) || (use.NeedsValue && !Knows(use.Entry))) return false;
        }
        return true;
    }

    private void EndLate(ParticipantRecord op)
    {
        effects.RecordOutcome(op);
        _lateOps.Remove(op.Key.Id);
        if (op.Phase != RecordPhase.Late) records.DropIfSettled(op);
        else if (op.Move(RecordPhase.Free)) records.Recycle(op);
    }

    /// <summary>The whole range has arrived: a key that it did not bring was absent at the view change.</summary>
    public void RangeArrived(int range)
    {
        if (_lines.HasUnknown(range) || _marks.HasAny(range)) _arrived.Enqueue(range);
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
            if (_lines.TryTakeUnknown(range, out var entry)) left -= Know(entry);
            else if (!_marks.TryTake(range, out entry)) _ = _arrived.Dequeue();
            if (entry is not null) slice.DropIfIdle(entry);
        }
        int from = Math.Max(0, _oldMarks.Count - Math.Max(0, left));
        for (int i = _oldMarks.Count - 1; i >= from; i--) slice.DropIfIdle(_oldMarks[i]);
        _oldMarks.RemoveRange(from, _oldMarks.Count - from);
        return _arrived.Count == 0;
    }

    /// <summary>Empties a range before the state of a newer view change is written into it, except for entries written since.</summary>
    public void ClearRange(int range)
    {
        slice.Table.CopyRange(range, _cleared);
        foreach (var entry in _cleared)
        {
            if (entry.KnownIn == (uint)state.View) continue;
            Sink.Change(entry, null, 0);
            slice.DropIfIdle(entry);
        }
        _cleared.Clear();
    }

    /// <summary>Whether a put would have to be kept for later although too much is kept already.</summary>
    public bool TooLate(ParticipantRecord op)
    {
        if (state.Initialised || _lines.Bytes + ((long)_marks.Count * KeyLines.EntryBytes) <= DhtLimits.LateBytes) return false;
        for (int i = 0; i < op.UseCount; i++)
            if (op.Uses[i].Deed.Effect.Removes || Waits(op.Uses[i])) return true;
        return false;
    }

    /// <summary>The view ends, or the state is complete: nothing waits any more. Marks are dropped over the next turns.</summary>
    public void Forget()
    {
        _lines.Clear();
        _lateOps.Clear();
        _arrived.Clear();
        _marks.MoveTo(_oldMarks);
    }

    /// <summary>The slice is gone, and the marks with it.</summary>
    public void ForgetMarks() => _oldMarks.Clear();
}
