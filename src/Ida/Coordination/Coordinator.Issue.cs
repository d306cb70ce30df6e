using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Placement;

namespace Ida.Coordination;

/// <summary>Sends operations to their participants.</summary>
internal sealed partial class Coordinator
{
    private readonly RankList _ranks = new();

    /// <summary>Begins an attempt; without a view to act in, the operation waits for the next view.</summary>
    private void Issue(ClientOperation op)
    {
        if (op.IsDue && !_open.MayResume(op))
        {
            _open.Shares.SetDue(op, true);
            return;
        }
        _open.Shares.SetDue(op, false);
        op.Asks = false;
        if (_state is not { Acts: true, Map: { } map })
        {
            op.RetryAt = 0;
            return;
        }
        // A put that was sent in an earlier view may have been executed: then its participants say so, and otherwise they refuse it.
        var lacking = _routes.Lacking(op);
        if (lacking is not null && (!op.Kind.Changes || op.Phase == OperationPhase.Admitted))
        {
            Refuse(op, _errors.NotAgreed(op, lacking));
            return;
        }
        if (MustAskWhetherGiven(op))
        {
            AskHowItEnded(op);
            return;
        }
        if (_routes.BlockedBy(op, map) is >= 0 and var awaited)
        {
            AwaitRoom(op, awaited);
            return;
        }
        if (op.IsParked && !_open.MayResume(op))
        {
            _open.Shares.SetDue(op, true);
            // At the next tick all operations that are due take the free places, in their order.
            op.RetryAt = _state.Node.Now;
            return;
        }
        op.RetryAt = 0;
        if (op.IsParked) _open.Resume(op);
        EndHold(op);
        op.Attempt++;
        op.AnswerBytes = 0;
        op.ForgetResults();
        bool oneShard = op.Parts[0].Shard == op.Parts[op.PartCount - 1].Shard;
        if (!op.Kind.Changes && (op.PartCount == 1 || (oneShard && !_state.Rules.ShardReadTakesTime)))
        {
            IssueReads(op, map);
            return;
        }
        var running = Attempts.New();
        // A takeover at this member may be driving an attempt of this very operation that came through another member.
        ulong payload = op.Requested is null ? 0 : op.Payload;
        while (Attempts.Find(new(op.Id, op.Attempt, payload)) is not null) op.Attempt++;
        running.Key = new(op.Id, op.Attempt, payload);
        running.Owner = _state.OwnerOf(op.Id.Session);
        (running.Kind, running.Level) = (op.Kind, op.Level);
        if (!_routes.TryFindParticipants(op, running, map))
        {
            Attempts.Recycle(running);
            RetryLater(op);
            return;
        }
        running.Single = !op.Kind.Changes && running.Count == 1;
        running.Client = op;
        op.Running = running;
        Attempts.Add(running);
        ulong hint = _state.Clock.Hint(_state.Node.Now), acked = running.Owner == _state.Rank ? Math.Min(Puts.AckedBelow(), op.Id.Sequence) : 0;
        running.Releases = Puts.Numbers.Releases;
        int own = -1;
        for (int first = 0, slot = 0; first < op.PartCount;)
        {
            int count = 1, shard = op.Parts[first].Shard;
            _ranks.Clear();
            while (first + count < op.PartCount && op.Parts[first + count].Shard == shard) count++;
            for (; slot < running.Count && map.ShardOfSlot(running.Slots[slot]) == shard; slot++)
            {
                int rank = map.RankOfSlot(running.Slots[slot]);
                if (rank == _state.Rank) own = first;
                else _ranks.Add(rank);
            }
            if (_ranks.Span.Length > 0)
            {
                op.MarkSent();
                _send.Propose(_ranks.Span, running, acked, hint, op, first, count);
            }
            first += count;
        }
        if (own >= 0) ProposeHere(op, running, own, hint, acked, usable: lacking is null);
    }

    private void ProposeHere(ClientOperation op, CoordinatedOperation running, int first, ulong hint, ulong acked, bool usable)
    {
        op.MarkSent();
        var record = _participant.Records.New();
        record.Issued = true;
        (record.Key, record.Payload, record.Owner, record.Kind, record.Single, record.Level) = (running.Key, op.Payload, running.Owner, running.Kind, running.Single, running.Level);
        for (int i = 0; i < running.Count; i++) record.AddSlot(running.Slots[i]);
        if (!usable)
        {
            // Refuse it here, as the other participants do.
            int keys = 0;
            while (first + keys < op.PartCount && op.Parts[first + keys].Shard == _state.Shard) keys++;
            _participant.Refuse(record, _state.Rank, keys, RejectReason.Misplaced);
            return;
        }
        for (int i = first; i < op.PartCount && op.Parts[i].Shard == _state.Shard; i++)
        {
            ref var part = ref op.Parts[i];
            var use = record.AddUse(_participant.Slice.EntryOf(op.KeyOf(i), part.Place), part.Deed);
            use.Incoming = part.Deed.Effect.Brings ? op.IncomingOf(i).ToArray() : null;
        }
        record.TellsValue = op.TellsValue;
        _participant.Propose(record, _state.Rank, hint, acked);
    }

    private void IssueReads(ClientOperation op, ShardMap map)
    {
        op.MissingReads = op.PartCount;
        uint attempt = op.Attempt;
        for (int i = 0; i < op.PartCount; i++)
        {
            int slot = _routes.Representative(map, op.Parts[i].Shard, op.Parts[i].Place);
            if (slot < 0)
            {
                RetryLater(op);
                return;
            }
            if (slot == _state.Slot) ReadHere(op, i);
            else
            {
                op.MarkSent();
                _send.Get(map.RankOfSlot(slot), op.Id.Sequence, attempt, i, op.Level, op.KeyOf(i));
            }
            if (!op.IsInFlight || op.Attempt != attempt) return;
        }
    }

    private void ReadHere(ClientOperation op, int index)
    {
        ref var part = ref op.Parts[index];
        if (_participant.Reads.TryRead(op.KeyOf(index), part.Place, out byte[]? value, out ulong version))
        {
            _state.Counters.CountLocalRead();
            OnLocalValue(op, index, value, version);
            return;
        }
        var wait = _participant.Reads.New();
        (wait.Local, wait.Request, wait.Attempt, wait.LocalIndex, wait.Level) = (true, op.Id.Sequence, op.Attempt, index, op.Level);
        if (!_participant.Read(wait, op.KeyOf(index), part.Place)) Finish(op, _errors.TooMany(op, _state.Rank));
    }

    /// <summary>A read of this member's slice that had to wait is answered.</summary>
    public void OnLocalValue(in LocalValue value)
    {
        if (TryRead(value.Request, value.Attempt, value.Index, out var op)) OnLocalValue(op, value.Index, value.Value, value.Version);
    }

    /// <summary>The read that an answer is for, if it still waits.</summary>
    private bool TryRead(ulong request, uint attempt, int index, [NotNullWhen(true)] out ClientOperation? op) =>
        _pending.TryGetValue(new(_state.Session, request), out op) && !op.Kind.Changes && op.IsInFlight && op.Attempt == attempt && (uint)index < (uint)op.PartCount;

    private void OnLocalValue(ClientOperation op, int index, byte[]? value, ulong version)
    {
        ref var part = ref op.Parts[index];
        if (part.HasResult) return;
        (part.Value, part.Version, part.HasResult) = (value, version, true);
        if (--op.MissingReads == 0) Finish(op, null);
    }

    private void OnRemoteValue(ClientOperation op, int index, ReadOnlySpan<byte> value, ulong version)
    {
        ref var part = ref op.Parts[index];
        if (part.HasResult) return;
        (part.HasCopy, part.CopyOffset, part.CopyLength) = (true, op.Bytes.Length, value.Length);
        op.Bytes.Write(value);
        (part.Version, part.HasResult) = (version, true);
        CountAnswer(op, value.Length);
        if (_open.BringsTooMuch(op)) Finish(op, _errors.Overloaded(op));
        else if (--op.MissingReads == 0) Finish(op, null);
    }

    // The answer that a key is absent counts some bytes too, so that it lowers the estimate of what reads bring.
    private void OnRemoteAbsence(ClientOperation op, int index, ulong version)
    {
        if (!op.Parts[index].HasResult) CountAnswer(op, Wire.DhtLimits.KeyCost);
        OnLocalValue(op, index, null, version);
    }

    /// <summary>A representative answered a one-key read. Numbers of reads are easy to guess, so an answer from a member outside the key's shard is refused.</summary>
    public void OnValue(int from, ulong request, uint attempt, int index, Wire.ReadStatus status, ulong version, ReadOnlySpan<byte> value)
    {
        if (!TryRead(request, attempt, index, out var op)) return;
        if (op.Parts[index].Shard != _state.Map!.ShardOfSlot(_state.Map.SlotOfRank(from))) _state.Node.Counters.Refuse(RefusalReason.NotEntitled);
        else if (status == Wire.ReadStatus.NotInitialised) RetryLater(op);
        else if (status == Wire.ReadStatus.Overloaded) Finish(op, _errors.TooMany(op, from));
        else if (status == Wire.ReadStatus.Misplaced) Finish(op, _errors.Misplaced(op, from));
        else if (status == Wire.ReadStatus.Found) OnRemoteValue(op, index, value, version);
        else OnRemoteAbsence(op, index, version);
    }
}
