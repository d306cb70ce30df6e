using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Coordination;
using Ida.Maps;
using Ida.Ordering;
using Ida.Wire;

namespace Ida;

/// <summary>Incoming frames: parsed in place, checked, and passed to the part that handles them. A malformed frame has no effect.</summary>
internal sealed partial class DhtLayer
{
    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (!_state.Acts || IsOver || _state.Map!.SlotOfRank(rank) < 0 || rank == _state.Rank)
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        var from = new BodyReader(body);
        switch (type)
        {
            case DhtFrame.Propose: OnPropose(rank, rank, ref from); break;
            case DhtFrame.Proposed: OnProposed(rank, ref from); break;
            case DhtFrame.Commit: OnCommit(rank, ref from); break;
            case DhtFrame.Quiescent: OnQuiescent(rank, ref from); break;
            case DhtFrame.Executed: OnExecuted(rank, ref from); break;
            case DhtFrame.Get: OnGet(rank, ref from); break;
            case DhtFrame.Value: OnValue(rank, ref from); break;
            case DhtFrame.Forward: OnForward(rank, ref from); break;
            case DhtFrame.Pull: _source.OnPull(rank, ref from); break;
            case DhtFrame.Chunk: OnChunk(rank, ref from); break;
            case DhtFrame.ChunkAck: _source.OnAck(rank); break;
            case DhtFrame.StateEnd: OnStateEnd(rank, ref from); break;
            case DhtFrame.Fetch: _source.OnFetch(rank, ref from); break;
            case DhtFrame.Fetched: OnFetched(rank, ref from); break;
            case DhtFrame.Ready: OnReady(rank); break;
            case DhtFrame.AskEnd: OnAskEnd(rank, ref from); break;
            case DhtFrame.End: OnEnd(rank, ref from); break;
            case DhtFrame.Settle: _collection.OnSettle(rank, ref from); break;
            default: OnShort(rank, type, ref from); break;
        }
        Drain();
    }

    /// <summary>Passes the answers of this member's participant to its coordinator.</summary>
    private void Drain()
    {
        if (!_state.Acts) return;
        while (true)
        {
            if (_send.TryDequeueValue(out var value))
            {
                Coordinator.OnLocalValue(value);
                continue;
            }
            if (!_send.TryDequeueLocal(out var message)) return;
            int self = _state.Rank;
            switch (message.Type)
            {
                case DhtFrame.Proposed: Coordinator.OnProposed(message.Key, self, message.Time, message.Quiescent, message.HasResult); break;
                case DhtFrame.Quiescent: Coordinator.OnQuiescent(message.Key, self, message.Quiescent); break;
                case DhtFrame.Stable: Coordinator.OnStable(message.Key); break;
                case DhtFrame.Executed: Coordinator.OnExecuted(message.Key, self); break;
                case DhtFrame.Rejected: Coordinator.OnRejected(message.Key, self, message.Reason); break;
                case DhtFrame.NotHeld: Coordinator.OnNotHeld(message.Key, self, message.AskedWithTime); break;
                case DhtFrame.Aborted: Coordinator.OnAborted(message.Key, self); break;
            }
        }
    }

    // A part that is handed on: its sender and the member that took over must be participants, and only a member of this shard can hold the part.
    private void OnPropose(int from, int coordinator, ref BodyReader body, bool handedOn = false)
    {
        var op = _participant.NewRecord();
        op.Key = _send.ReadAttempt(ref body, out op.Owner);
        op.Issued = from == coordinator && (op.Key.Payload != 0 || op.Owner == from);
        byte flags = body.U8();
        (op.IsPut, op.Single, op.Level) = ((flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0 ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict);
        op.Payload = op.IsPut ? body.U64() : 0;
        ulong ackedBelow = body.Var(), hint = body.U64();
        int slots = body.Count(_state.Map!.SlotCount, 1);
        long before = -1;
        bool mine = false, valid = slots > 0 && !(op.Single && (op.IsPut || slots != 1)) && (op.IsPut ? op.Payload != 0 && (op.Key.Payload == 0 || op.Key.Payload == op.Payload) : op.Key.Payload == 0);
        for (int i = 0; i < slots; i++)
        {
            ulong slot = body.Var();
            valid &= _state.Map!.RankOfSlot((int)Math.Min(slot, int.MaxValue)) >= 0;
            // Coordinators sort slots by shard and number: so none can occur twice.
            long place = ((long)((uint)slot % (uint)Shards) << 32) | (uint)slot;
            valid &= place > before;
            before = place;
            mine |= slot == (ulong)_state.Slot;
            op.AddSlot((ushort)slot);
        }
        int keys = body.Count(DhtLimits.Keys, 1);
        valid &= keys > 0 && mine && ackedBelow <= op.Key.Id.Sequence && (ackedBelow == 0 || op.Owner == from);
        bool misplaced = false;
        int bytes = 0;
        for (int i = 0; i < keys && valid && !body.Failed; i++) valid = ReadKey(op, ref body, ref misplaced, ref bytes);
        bool oneShard = AllInOneShard(op);
        // The members of another shard could not know whether an expectation is met.
        for (int i = 0; i < op.UseCount; i++) valid &= !op.Uses[i].Expects || oneShard;
        op.TellsValue = oneShard && keys == 1 && op.UseCount == 1 && op.Uses[0].Effect == KeyEffect.Merge;
        // An attempt without the hash of its pairs may come from its issuer only: another member could give it other pairs.
        if (valid && body.Complete && !(handedOn ? ShardOfRank(from) == _state.Shard && _participant.TakesPart(from, op) && _participant.TakesPart(coordinator, op) : op.Key.Payload != 0 || op.Owner == from))
        {
            _participant.Discard(op);
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        if (valid && body.Complete && misplaced)
        {
            _participant.Refuse(op, coordinator, keys, RejectReason.Misplaced);
            return;
        }
        if (valid && body.Complete && DistinctKeys(op))
        {
            _participant.Propose(op, coordinator, hint, ackedBelow);
            return;
        }
        _participant.Discard(op);
        Node.Counters.Refuse(RefusalReason.Malformed);
    }

    private bool ReadKey(ParticipantRecord op, ref BodyReader body, ref bool misplaced, ref int bytes)
    {
        var key = body.Blob(DhtLimits.KeyBytes);
        byte kind = op.IsPut ? body.U8() : (byte)0;
        bool expects = (kind & DhtSender.Expectation) != 0;
        var effect = (KeyEffect)(kind & ~DhtSender.Expectation);
        ulong expected = expects ? body.Var() : 0;
        bool brings = effect is KeyEffect.Put or KeyEffect.Merge;
        var value = brings ? body.Blob(DhtLimits.ValueBytes) : default;
        ulong resolver = effect == KeyEffect.Merge ? body.U64() : 0;
        if (body.Failed || key.Length < KeyIdentity.MapBytes || effect > KeyEffect.Check || op.IsPut == (effect == KeyEffect.Read) || (effect == KeyEffect.Check && !expects)) return false;
        // The same bound as for callers: so any holder of the part can hand it on in one frame.
        bytes += key.Length + value.Length + DhtLimits.KeyCost;
        if (bytes > DhtLimits.PartBytes) return false;
        // One is enough: the whole is refused, and the user's code that places keys may throw for each of thousands.
        if (misplaced || !LiesHere(key, out var map, out ulong place) || (effect == KeyEffect.Merge && !CanMerge(map, resolver)))
        {
            misplaced = true;
            return true;
        }
        var use = op.AddUse(_participant.EntryOf(key, place), effect, resolver, expects, expected);
        use.Incoming = brings ? value.ToArray() : null;
        return true;
    }

    private bool AllInOneShard(ParticipantRecord op)
    {
        foreach (ushort slot in op.Participants)
            if (_state.Map!.ShardOfSlot(slot) != _state.Shard) return false;
        return true;
    }

    /// <summary>
    /// Whether a key is of a map that can be used, and lies in this member's shard. Hash and shard key are the user's, so they may throw, or differ between members: then the
    /// operation is refused, at whichever member that happens.
    /// </summary>
    private bool LiesHere(ReadOnlySpan<byte> key, out DeclaredMap map, out ulong place)
    {
        place = 0;
        map = _state.Maps.Find(key)!;
        if (map is not { LackedBy: null }) return false;
        try
        {
            var bytes = key[KeyIdentity.MapBytes..];
            ulong hash = Hash(map, bytes);
            place = PlaceOf(map, hash, key);
            return ShardOf(hash) == _state.Shard;
        }
        catch (Exception)
        {
            return false;
        }
    }

    /// <summary>Whether all members can run the resolver: no coordinator asks for another.</summary>
    private bool CanMerge(DeclaredMap map, ulong resolver) => map.FindResolver(resolver) is { LackedBy: null } || _state.Without == Rule.OnlyAgreedMaps;

    /// <summary>Coordinators send keys in order, so equal keys are neighbours; any other order would break the queues.</summary>
    private static bool DistinctKeys(ParticipantRecord op)
    {
        for (int i = 1; i < op.UseCount; i++)
            if (op.Uses[i - 1].Entry.Key.AsSpan().SequenceCompareTo(op.Uses[i].Entry.Key) >= 0) return false;
        return true;
    }

    private void OnProposed(int from, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out _);
        ulong time = body.U64();
        byte flags = body.U8();
        if (body.Failed || time == 0 || time > HybridClock.MaxTime || !ReadResult(key, from, flags, executed: false, time, ref body)) Node.Counters.Refuse(RefusalReason.Malformed);
        else if (time > _state.Clock.Limit(Node.Now)) RefuseTime();
        else Coordinator.OnProposed(key, from, time, (flags & 1) != 0, (flags & 2) != 0);
    }

    /// <summary>
    /// The attempt stays without a time here: to abort it would be wrong where all have proposed, since a member that takes over may commit it.
    /// The flush ends it.
    /// </summary>
    private void RefuseTime()
    {
        Node.Counters.Refuse(RefusalReason.Unexpected);
        _participant.AskForView();
    }

    private void OnQuiescent(int from, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out _);
        ulong time = body.U64();
        byte flags = body.U8();
        if (body.Failed || time > HybridClock.MaxTime || !ReadResult(key, from, flags, executed: true, OperationPart.Executed, ref body)) Node.Counters.Refuse(RefusalReason.Malformed);
        else Coordinator.OnQuiescent(key, from, (flags & 1) != 0);
    }

    private void OnExecuted(int from, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out _);
        int count = body.Count(DhtLimits.Keys, 1), first = 0;
        ClientOperation? client = Coordinator.TryFind(key, from, out var running, out _) ? running.Client : null;
        // There are no results where the participant knows only that the put was executed.
        if (!EndsBehind(body, count, put: true) || (client is not null && count > 0 && !client.HasParts(ShardOfRank(from), count, out first)))
        {
            Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        // No member remembers that a read was executed; but an aborted read may have got its commit from a member that took over.
        if (running is { IsPut: false } && (count > 0 || !running.Aborting))
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        for (int i = first; client is not null && i < first + count; i++)
        {
            ref var part = ref client.Parts[i];
            (part.Version, part.Report, part.ResultTime, part.HasResult) = (body.Var(), null, OperationPart.Executed, true);
        }
        if (client is not null && count > 0)
        {
            client.Parts[first].Report = PutReportCodec.Read(ref body, count);
            Coordinator.CountAnswer(client, ValueBytes(client.Parts[first].Report));
        }
        Coordinator.OnExecuted(key, from);
    }

    /// <summary>Whether the rest of a frame is exactly this many results: a frame that is not whole has no effect.</summary>
    private static bool EndsBehind(BodyReader body, int count, bool put)
    {
        for (int i = 0; i < count && !body.Failed; i++)
        {
            _ = body.Var();
            if (!put && body.U8() != 0) _ = body.Blob(DhtLimits.ValueBytes);
        }
        if (put && count > 0) PutReportCodec.Skip(ref body, count);
        return body.Complete;
    }

    private static int ValueBytes(PutReport? report) => report?.Value?.Length ?? 0;

    private int ShardOfRank(int rank) => _state.Map!.ShardOfSlot(_state.Map.SlotOfRank(rank));

    /// <summary>Reads results into the caller's operation; skips them where no call waits for them.</summary>
    private bool ReadResult(in AttemptId key, int from, byte flags, bool executed, ulong time, ref BodyReader body)
    {
        if ((flags & 2) == 0) return body.Complete;
        // No such attempt is driven here: the frame has no effect.
        if (!Coordinator.TryFind(key, from, out var running, out int index)) return true;
        bool tooLarge = (flags & 4) != 0;
        int count = tooLarge ? 0 : body.Count(DhtLimits.Keys, 1), first = 0;
        if (!EndsBehind(body, count, running.IsPut)) return false;
        if (running.Client is not { } client || !Coordinator.Counts(running, index, executed)) return true;
        if (!tooLarge && !client.HasParts(ShardOfRank(from), count, out first)) return false;
        Coordinator.MarkTooLarge(running, index, tooLarge);
        // The parts of a shard get their results together. A read may get one more than once; the last one counts.
        if (count == 0 || (client.IsPut && !Coordinator.IsNewer(client.Parts[first], time))) return true;
        int bytes = client.IsPut ? -ValueBytes(client.Parts[first].Report) : body.Remaining;
        for (int i = first; i < first + count; i++)
        {
            ref var part = ref client.Parts[i];
            (part.ResultTime, part.Version, part.Report, part.HasResult) = (time, body.Var(), null, true);
            if (client.IsPut) continue;
            bytes -= part.Value?.Length ?? 0;
            part.Value = body.U8() != 0 ? body.Blob(DhtLimits.ValueBytes).ToArray() : null;
        }
        if (client.IsPut) bytes += ValueBytes(client.Parts[first].Report = PutReportCodec.Read(ref body, count));
        Coordinator.CountAnswer(client, bytes);
        return true;
    }

    private void OnCommit(int from, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out int owner);
        ulong time = body.U64();
        byte flags = body.U8();
        if (!body.Complete || time == 0 || time > HybridClock.MaxTime) Node.Counters.Refuse(RefusalReason.Malformed);
        else if (time > _state.Clock.Limit(Node.Now)) _participant.RefuseCommit(from);
        else _participant.Commit(key, owner, from, (flags & 2) != 0, time, (flags & 1) != 0);
    }

    private void OnGet(int from, ref BodyReader body)
    {
        ulong request = body.Var(), attempt = body.Var(), index = body.Var();
        byte level = body.U8();
        var key = body.Blob(DhtLimits.KeyBytes);
        bool whole = body.Complete && key.Length >= KeyIdentity.MapBytes;
        if (!whole || attempt > uint.MaxValue || index >= DhtLimits.Keys)
        {
            Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        if (!LiesHere(key, out _, out ulong place)) _send.Value(from, request, (uint)attempt, (int)index, ReadStatus.Misplaced, null, 0);
        else if (!_state.Initialised && _state.Without != Rule.OnlyInitialisedAnswers) _send.Value(from, request, (uint)attempt, (int)index, ReadStatus.NotInitialised, null, 0);
        else if (_send.OwesTooMuch(from)) _send.Value(from, request, (uint)attempt, (int)index, ReadStatus.Overloaded, null, 0);
        else if (_participant.TryRead(key, place, out byte[]? value, out ulong version)) _send.Value(from, request, (uint)attempt, (int)index, ReadStatus.Found, value, version);
        else
        {
            var wait = _participant.NewWait();
            (wait.Rank, wait.Request, wait.Attempt, wait.LocalIndex) = (from, request, (uint)attempt, (int)index);
            wait.Level = level == (byte)ConsistencyLevel.Ordered ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict;
            if (!_participant.Read(wait, key, place)) _send.Value(from, request, (uint)attempt, (int)index, ReadStatus.Overloaded, null, 0);
        }
    }

    private void OnValue(int from, ref BodyReader body)
    {
        ulong request = body.Var(), attempt = body.Var(), index = body.Var();
        var status = (ReadStatus)body.U8();
        ulong version = body.Var();
        if (body.Failed || attempt > uint.MaxValue || index >= DhtLimits.Keys || status > ReadStatus.Misplaced || body.Remaining > DhtLimits.ValueBytes)
            Node.Counters.Refuse(RefusalReason.Malformed);
        else Coordinator.OnValue(ShardOfRank(from), request, (uint)attempt, (int)index, status, version, body.Bytes(body.Remaining));
    }

    private void OnForward(int from, ref BodyReader body)
    {
        if (body.U8() == 1)
        {
            int coordinator = body.U16();
            var head = body;
            if (_state.Map!.SlotOfRank(coordinator) < 0) Node.Counters.Refuse(RefusalReason.Malformed);
            // Only a takeover gets parts handed on; the part of this member's own call comes from the call alone.
            else if (coordinator == _state.Rank && !Coordinator.TakesOver(_send.ReadAttempt(ref head, out _))) Node.Counters.Refuse(RefusalReason.Unexpected);
            else OnPropose(from, coordinator, ref body, handedOn: true);
            return;
        }
        var key = _send.ReadAttempt(ref body, out _);
        int target = _state.Map!.RankOfSlot(body.U16());
        if (!body.Complete || target < 0) Node.Counters.Refuse(RefusalReason.Malformed);
        else if (target == _state.Rank || _participant.Find(key) is not { } op) return;
        else if (!_participant.TakesPart(from, op) || !_participant.TakesPart(target, op)) Node.Counters.Refuse(RefusalReason.Unexpected);
        else if (_state.Port.Room(target) > 0) _send.Forward(target, from, op);
    }

    private void OnChunk(int from, ref BodyReader body)
    {
        if (_state.Initialised) Node.Counters.Refuse(RefusalReason.Unexpected);
        else _sink.OnChunk(from, ref body);
    }

    private void OnFetched(int from, ref BodyReader body)
    {
        // The answer to the last question may come after the state.
        if (!_state.Initialised && _wholeAt is null) _sink.OnFetched(from, ref body);
    }

    private void OnStateEnd(int from, ref BodyReader body)
    {
        if (_state.Initialised || !_sink.OnEnd(from, ref body, out ulong clock)) return;
        _wholeAt = clock;
        // At once where little waits: the view may end in this turn.
        TakeArrived();
    }

    /// <summary>Goes on with what waited for the state. When all of it has been handled, and the state is whole, this member is initialised.</summary>
    private void TakeArrived()
    {
        if (!_participant.TakeArrived() || _wholeAt is not { } clock) return;
        _wholeAt = null;
        _sink.Forget();
        _participant.BecomeInitialised(clock);
        Watch.OnWhole();
        _state.Map!.SetInitialised(_state.Slot);
        Coordinator.OnMemberInitialised();
        Events?.OnInitialised(true);
        for (int slot = 0; slot < _state.Map.SlotCount; slot++)
        {
            int rank = _state.Map.RankOfSlot(slot);
            if (rank < 0 || rank == _state.Rank) continue;
            _ = _send.Room(1);
            _send.Send(rank, DhtFrame.Ready, 0);
        }
    }

    private void OnReady(int from)
    {
        _state.Map!.SetInitialised(_state.Map.SlotOfRank(from));
        _source.OnReady();
        Coordinator.OnMemberInitialised();
        OnSuccessor(from);
    }

    private void OnAskEnd(int from, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out int owner);
        if (!body.Complete || owner != _state.Rank) Node.Counters.Refuse(RefusalReason.Malformed);
        else Coordinator.OnAskEnd(from, key);
    }

    private void OnEnd(int from, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out _);
        var status = (EndStatus)body.U8();
        int count = body.Count(DhtLimits.Keys, 2);
        if (!Coordinator.TryAsking(from, key, out var op)) return;
        if (status > EndStatus.NeverGiven || (count > 0 && (status != EndStatus.Executed || count != op.PartCount)) || !IsWholeEnd(body, count))
        {
            Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        for (int i = 0; i < count; i++) (op.Parts[i].Version, op.Parts[i].Report) = (body.Var(), PutReportCodec.Read(ref body, count));
        Coordinator.OnEnd(op, status, count > 0);
    }

    private static bool IsWholeEnd(BodyReader body, int count)
    {
        for (int i = 0; i < count && !body.Failed; i++)
        {
            _ = body.Var();
            PutReportCodec.Skip(ref body, count);
        }
        return body.Complete;
    }

    /// <summary>Frames that hold an operation and at most one byte.</summary>
    private void OnShort(int from, FrameType type, ref BodyReader body)
    {
        var key = _send.ReadAttempt(ref body, out int owner);
        byte flag = body.Remaining > 0 ? body.U8() : (byte)0;
        if (!body.Complete)
        {
            Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        switch (type)
        {
            case DhtFrame.Stable:
                if (_participant.Stable(key, from)) Coordinator.OnStable(key);
                break;
            case DhtFrame.Abort:
                bool? aborted = _participant.Abort(key, from);
                if (flag == 0 || aborted is null) break;
                // A member that has the commit of an attempt must not let its caller be told that it was not executed.
                if (aborted == true) _send.Aborted(from, key, owner);
                else _send.Executed(from, key, owner, 0, default);
                break;
            case DhtFrame.Aborted: Coordinator.OnAborted(key, from); break;
            case DhtFrame.NotHeld: Coordinator.OnNotHeld(key, from, flag != 0); break;
            case DhtFrame.Rejected when flag <= (byte)RejectReason.Expired: Coordinator.OnRejected(key, from, (RejectReason)flag); break;
            case DhtFrame.Recover: _participant.Recover(key, owner, from, (flag & 1) != 0, (flag & 2) != 0, (flag & 4) != 0); break;
            default: Node.Counters.Refuse(RefusalReason.UnknownType); break;
        }
    }
}
