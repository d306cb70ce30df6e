using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using GroupCore.Runtime;
using Ida.Maps;
using Ida.Ordering;
using Ida.Placement;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>Sends operations to their participants.</summary>
internal sealed partial class Coordinator
{
    private int[] _ranks = new int[16];

    /// <summary>Begins an attempt; without a view to act in, the operation waits for the next view.</summary>
    private void Issue(ClientOperation op)
    {
        if (op.IsDue && !MayResume(op))
        {
            _shares.SetDue(op, true);
            return;
        }
        _shares.SetDue(op, false);
        op.Asks = false;
        if (state is not { Acts: true, Map: { } map })
        {
            op.RetryAt = 0;
            return;
        }
        // What was sent of a put in an earlier view may have been executed: its participants say so, and refuse it otherwise.
        var lacking = Lacking(op);
        if (lacking is not null && (!op.Kind.Changes || op.Phase == OperationPhase.Admitted))
        {
            Refuse(op, NotAgreed(op, lacking));
            return;
        }
        if (MustAskWhetherGiven(op))
        {
            AskHowItEnded(op);
            return;
        }
        if (BlockedBy(op, map) is >= 0 and var awaited)
        {
            AwaitRoom(op, awaited);
            return;
        }
        if (op.IsParked && !MayResume(op))
        {
            _shares.SetDue(op, true);
            // At the next tick all operations that are due take the free places, in their order.
            op.RetryAt = state.Node.Now;
            return;
        }
        op.RetryAt = 0;
        if (op.IsParked) Resume(op);
        EndHold(op);
        op.Attempt++;
        op.AnswerBytes = 0;
        op.ForgetResults();
        bool oneShard = op.Parts[0].Shard == op.Parts[op.PartCount - 1].Shard;
        if (!op.Kind.Changes && (op.PartCount == 1 || (oneShard && !state.Rules.ShardReadTakesTime)))
        {
            IssueReads(op, map);
            return;
        }
        var running = _free.TryPop(out var free) ? free : new();
        // A takeover at this member may be driving an attempt of this very operation that came through another member.
        ulong payload = op.Requested is null ? 0 : op.Payload;
        while (_running.Find(new(op.Id, op.Attempt, payload)) is not null) op.Attempt++;
        running.Key = new(op.Id, op.Attempt, payload);
        running.Owner = state.OwnerOf(op.Id.Session);
        (running.Kind, running.Level) = (op.Kind, op.Level);
        if (!FindParticipants(op, running, map))
        {
            Recycle(running);
            RetryLater(op);
            return;
        }
        running.Single = !op.Kind.Changes && running.Count == 1;
        running.Client = op;
        op.Running = running;
        _running.Add(running);
        ulong hint = state.Clock.Hint(state.Node.Now), acked = running.Owner == state.Rank ? Math.Min(AckedBelow(), op.Id.Sequence) : 0;
        running.Releases = Numbers.Releases;
        int own = -1;
        for (int first = 0, slot = 0; first < op.PartCount;)
        {
            int count = 1, shard = op.Parts[first].Shard, remote = 0;
            while (first + count < op.PartCount && op.Parts[first + count].Shard == shard) count++;
            for (; slot < running.Count && map.ShardOfSlot(running.Slots[slot]) == shard; slot++)
            {
                int rank = map.RankOfSlot(running.Slots[slot]);
                if (rank == state.Rank) own = first;
                else AddRank(ref remote, rank);
            }
            if (remote > 0)
            {
                op.MarkSent();
                send.Propose(_ranks.AsSpan(0, remote), running, acked, hint, op, first, count);
            }
            first += count;
        }
        if (own >= 0) ProposeHere(op, running, own, hint, acked, usable: lacking is null);
    }

    /// <summary>A map or resolver that the operation uses and a member lacks; null where all have all of it.</summary>
    private Declared? Lacking(ClientOperation op)
    {
        for (int i = 0; i < op.PartCount && !state.Maps.AllAgreed; i++)
            if (op.Parts[i].Uses.LackedBy is not null) return op.Parts[i].Uses;
        return null;
    }

    private bool FindParticipants(ClientOperation op, CoordinatedOperation running, ShardMap map)
    {
        int shard = -1;
        for (int i = 0; i < op.PartCount; i++)
        {
            if (op.Parts[i].Shard == shard) continue;
            shard = op.Parts[i].Shard;
            if (op.Kind.Changes)
            {
                foreach (ushort slot in map.Members(shard)) running.Add(slot);
                continue;
            }
            int representative = Representative(map, shard, op.Parts[i].Place);
            if (representative < 0) return false;
            running.Add((ushort)representative);
        }
        return true;
    }

    /// <summary>This member's slot if it can answer, else one of the initialised members; with the rule left out any member.</summary>
    private int Representative(ShardMap map, int shard, ulong place)
    {
        if (state.Initialised && shard == state.Shard) return state.Slot;
        if (!state.Rules.OnlyInitialisedAnswers) return map.Members(shard)[^1];
        return map.Representative(shard, (uint)(state.Rank + (int)((place * 0x9E3779B97F4A7C15) >> 48)));
    }

    private void ProposeHere(ClientOperation op, CoordinatedOperation running, int first, ulong hint, ulong acked, bool usable)
    {
        op.MarkSent();
        var record = participant.NewRecord();
        record.Issued = true;
        (record.Key, record.Payload, record.Owner, record.Kind, record.Single, record.Level) = (running.Key, op.Payload, running.Owner, running.Kind, running.Single, running.Level);
        for (int i = 0; i < running.Count; i++) record.AddSlot(running.Slots[i]);
        if (!usable)
        {
            // As the other participants do.
            int keys = 0;
            while (first + keys < op.PartCount && op.Parts[first + keys].Shard == state.Shard) keys++;
            participant.Refuse(record, state.Rank, keys, RejectReason.Misplaced);
            return;
        }
        for (int i = first; i < op.PartCount && op.Parts[i].Shard == state.Shard; i++)
        {
            ref var part = ref op.Parts[i];
            var use = record.AddUse(participant.EntryOf(op.KeyOf(i), part.Place), part.Deed);
            use.Incoming = part.Deed.Effect.Brings ? op.IncomingOf(i).ToArray() : null;
        }
        record.TellsValue = op.TellsValue;
        participant.Propose(record, state.Rank, hint, acked);
    }

    private void IssueReads(ClientOperation op, ShardMap map)
    {
        op.MissingReads = op.PartCount;
        uint attempt = op.Attempt;
        for (int i = 0; i < op.PartCount; i++)
        {
            int slot = Representative(map, op.Parts[i].Shard, op.Parts[i].Place);
            if (slot < 0)
            {
                RetryLater(op);
                return;
            }
            if (slot == state.Slot) ReadHere(op, i);
            else
            {
                op.MarkSent();
                send.Get(map.RankOfSlot(slot), op.Id.Sequence, attempt, i, op.Level, op.KeyOf(i));
            }
            if (!op.IsInFlight || op.Attempt != attempt) return;
        }
    }

    private void ReadHere(ClientOperation op, int index)
    {
        ref var part = ref op.Parts[index];
        if (participant.TryRead(op.KeyOf(index), part.Place, out byte[]? value, out ulong version))
        {
            state.Counters.CountLocalRead();
            OnLocalValue(op, index, value, version);
            return;
        }
        var wait = participant.NewWait();
        (wait.Local, wait.Request, wait.Attempt, wait.LocalIndex, wait.Level) = (true, op.Id.Sequence, op.Attempt, index, op.Level);
        if (!participant.Read(wait, op.KeyOf(index), part.Place)) Finish(op, TooMany(op, state.Rank));
    }

    /// <summary>A read of this member's slice that had to wait is answered.</summary>
    public void OnLocalValue(in LocalValue value)
    {
        if (TryRead(value.Request, value.Attempt, value.Index, out var op)) OnLocalValue(op, value.Index, value.Value, value.Version);
    }

    /// <summary>The read that an answer is for, if it still waits.</summary>
    private bool TryRead(ulong request, uint attempt, int index, [NotNullWhen(true)] out ClientOperation? op) =>
        _pending.TryGetValue(new(state.Session, request), out op) && !op.Kind.Changes && op.IsInFlight && op.Attempt == attempt && (uint)index < (uint)op.PartCount;

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
        if (BringsTooMuch(op)) Finish(op, Overloaded(op));
        else if (--op.MissingReads == 0) Finish(op, null);
    }

    // The answer that a key is absent has some bytes too: so the estimate of what reads bring falls with it.
    private void OnRemoteAbsence(ClientOperation op, int index, ulong version)
    {
        if (!op.Parts[index].HasResult) CountAnswer(op, Wire.DhtLimits.KeyCost);
        OnLocalValue(op, index, null, version);
    }

    /// <summary>A representative answered a one-key read. Numbers of reads are easy to guess: an answer of a member outside the key's shard is refused.</summary>
    public void OnValue(int from, ulong request, uint attempt, int index, Wire.ReadStatus status, ulong version, ReadOnlySpan<byte> value)
    {
        if (!TryRead(request, attempt, index, out var op)) return;
        if (op.Parts[index].Shard != state.Map!.ShardOfSlot(state.Map.SlotOfRank(from))) state.Node.Counters.Refuse(RefusalReason.Unexpected);
        else if (status == Wire.ReadStatus.NotInitialised) RetryLater(op);
        else if (status == Wire.ReadStatus.Overloaded) Finish(op, TooMany(op, from));
        else if (status == Wire.ReadStatus.Misplaced) Finish(op, Misplaced(op, from));
        else if (status == Wire.ReadStatus.Found) OnRemoteValue(op, index, value, version);
        else OnRemoteAbsence(op, index, version);
    }

    /// <summary>No participant will ever hold it: a member lacks what it uses, or places its keys otherwise.</summary>
    private DhtException NeverHeld(ClientOperation op, int rank) => Lacking(op) is { } lacking ? NotAgreed(op, lacking) : Misplaced(op, rank);

    private MapNotAgreedException NotAgreed(ClientOperation op, Declared lacking)
    {
        var error = lacking.NotAgreed(op.Requested is not null);
        (error.View, error.QueueDepth) = (state.View, WaitingOperations);
        return error;
    }

    private DhtConfigurationException Misplaced(ClientOperation op, int rank) =>
        About(op, new DhtConfigurationException($"The hash function {state.Maps.HashName}, or the shard key of a map, puts a key of the operation into another shard at another member, or throws there. A hash function must depend on nothing but the bytes that it gets, a shard key on nothing but the key.{Nothing(op)}"), rank);

    private OperationNotExecutedException ClockAhead(ClientOperation op, int rank) =>
        About(op, new OperationNotExecutedException($"The time of the operation would be more than {TimeSpan.FromMicroseconds(HybridClock.Jump >> 12)} ahead of the clocks of most members: the clock of this member is wrong, or that of a member that wrote one of its keys. Members align their clocks at each view change.{Nothing(op)}"), rank);

    private void AddRank(ref int count, int rank)
    {
        if (count == _ranks.Length) Array.Resize(ref _ranks, count * 2);
        _ranks[count++] = rank;
    }

    private void Recycle(CoordinatedOperation running)
    {
        running.Reset();
        if (_free.Count < 4096) _free.Push(running);
    }
}
