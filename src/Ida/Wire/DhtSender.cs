using GroupCore.Wire;
using Ida.Coordination;
using Ida.Ordering;

namespace Ida.Wire;

/// <summary>
/// Writes frames. A message to this member itself takes a short cut: answers of its participant are queued as structs, and the layer handles
/// them at the end of the step, so that no part of the protocol is entered twice.
/// </summary>
internal sealed class DhtSender(DhtState state)
{
    private const int AttemptBytes = 2 + 16 + 10 + 5 + 8;

    // Lengths of key and value, effect, expected version, resolver.
    private const int KeyPartBytes = 5 + 5 + 1 + 10 + 8;

    /// <summary>In the byte of a key's effect: an expected version follows.</summary>
    public const byte Expectation = 0x80;
    private const ushort ForeignSession = ushort.MaxValue;
    private readonly Queue<LocalMessage> _local = new();
    private readonly Queue<LocalValue> _values = new();
    private readonly AnswersDue _due = new(state.Options);

    /// <summary>Takes results of this member's participant when the coordinator is in this process.</summary>
    public Coordinator Coordinator { get; set; } = null!;

    public bool TryDequeueLocal(out LocalMessage message) => _local.TryDequeue(out message);

    public bool TryDequeueValue(out LocalValue value) => _values.TryDequeue(out value);

    /// <summary>At a view change: nothing of the old view remains.</summary>
    public void ForgetLocal()
    {
        _local.Clear();
        _values.Clear();
        _due.Clear();
    }

    /// <summary>Whether so many answers to a member wait for room that no more of its questions are taken.</summary>
    public bool OwesTooMuch(int rank) => _due.IsFull(rank);

    /// <summary>The link to a member has room again: answers that are due go out.</summary>
    public void OnRoom(int rank)
    {
        while (_due.HasAny(rank) && state.Port.Room(rank) > 0 && _due.TryTake(rank, out var answer))
        {
            var body = Room(answer.Bytes + 5);
            answer.Write(ref body);
            Send(rank, answer.Type, body.Length);
        }
    }

    /// <summary>Whether an answer with values waits: behind others, or for room.</summary>
    private bool MustWait(int to) => _due.HasAny(to) || state.Port.Room(to) <= 0;

    // Rare: it may allocate.
    private void Keep(int to, FrameType type, ReadOnlySpan<byte> head, ParticipantRecord op)
    {
        if (op.IsPut)
        {
            _due.Add(to, new(type, op.Key, head.ToArray(), []));
            return;
        }
        var values = new (byte[]? Value, ulong Version)[op.UseCount];
        for (int i = 0; i < values.Length; i++) values[i] = (op.Uses[i].Value, op.Uses[i].Version);
        _due.Add(to, new(type, op.Key, head.ToArray(), values));
    }

    public void Proposed(int to, ParticipantRecord op, bool quiescent, bool result)
    {
        if (IsLocal(to))
        {
            if (result) Coordinator.TakeResults(op, executed: false);
            _local.Enqueue(new(DhtFrame.Proposed, op.Key, op.Proposed, quiescent, result, default));
            return;
        }
        Answer(to, DhtFrame.Proposed, op, op.Proposed, quiescent, result);
    }

    public void Quiescent(int to, ParticipantRecord op, bool early)
    {
        if (IsLocal(to))
        {
            if (op.HasResult) Coordinator.TakeResults(op, executed: true);
            _local.Enqueue(new(DhtFrame.Quiescent, op.Key, op.Time, !early, op.HasResult, default));
            return;
        }
        Answer(to, DhtFrame.Quiescent, op, op.Time, !early, op.HasResult);
    }

    /// <summary>Time u64, flags u8 (quiescent, with result, too large for a frame), then the result.</summary>
    private void Answer(int to, FrameType type, ParticipantRecord op, ulong time, bool quiescent, bool result)
    {
        bool values = result && !op.TooLarge;
        var body = Room(AttemptBytes + 9 + (values ? ResultBytes(op) : 0));
        WriteAttempt(ref body, op.Key, op.Owner);
        body.U64(time);
        body.U8((byte)((quiescent ? 1 : 0) | (result ? 2 : 0) | (result && op.TooLarge ? 4 : 0)));
        if (values && op.IsPut) Result(ref body, op);
        if (values && (!op.IsPut || op.TellsValue) && MustWait(to))
        {
            Keep(to, type, body.Written, op);
            return;
        }
        if (values && !op.IsPut) Result(ref body, op);
        Send(to, type, body.Length);
    }

    public void Stable(int to, in AttemptId op, int owner)
    {
        if (IsLocal(to)) _local.Enqueue(new(DhtFrame.Stable, op, 0, false, false, default));
        else SendAttempt(to, DhtFrame.Stable, op, owner);
    }

    public void Stable(ReadOnlySpan<int> ranks, in AttemptId op, int owner)
    {
        var body = Room(AttemptBytes);
        WriteAttempt(ref body, op, owner);
        Send(ranks, DhtFrame.Stable, body.Length);
    }

    public void Executed(int to, in AttemptId op, int owner, int parts, in Outcome outcome)
    {
        if (IsLocal(to))
        {
            Coordinator.TakeOutcome(op, outcome);
            _local.Enqueue(new(DhtFrame.Executed, op, 0, false, true, default));
            return;
        }
        var body = Room(AttemptBytes + 5 + (parts * 10) + PutReportCodec.SizeOf(outcome.Report));
        WriteAttempt(ref body, op, owner);
        body.Var((ulong)parts);
        for (int i = 0; i < parts; i++) body.Var(outcome.VersionAt(i));
        if (parts > 0) PutReportCodec.Write(ref body, outcome.Report);
        if (parts > 0 && outcome.Report?.Value is not null && MustWait(to)) _due.Add(to, new(DhtFrame.Executed, op, body.Written.ToArray(), []));
        else Send(to, DhtFrame.Executed, body.Length);
    }

    public void Rejected(int to, in AttemptId op, int owner, RejectReason reason)
    {
        if (IsLocal(to))
        {
            _local.Enqueue(new(DhtFrame.Rejected, op, 0, false, false, reason));
            return;
        }
        var body = Room(AttemptBytes + 1);
        WriteAttempt(ref body, op, owner);
        body.U8((byte)reason);
        Send(to, DhtFrame.Rejected, body.Length);
    }

    /// <summary>The answer that nothing is held; <paramref name="askedWithTime"/> repeats whether the asker knew the time.</summary>
    public void NotHeld(int to, in AttemptId op, int owner, bool askedWithTime)
    {
        if (IsLocal(to))
        {
            _local.Enqueue(new(DhtFrame.NotHeld, op, 0, false, false, default, askedWithTime));
            return;
        }
        var body = Room(AttemptBytes + 1);
        WriteAttempt(ref body, op, owner);
        body.U8(askedWithTime ? (byte)1 : (byte)0);
        Send(to, DhtFrame.NotHeld, body.Length);
    }

    public void Aborted(int to, in AttemptId op, int owner)
    {
        if (IsLocal(to)) _local.Enqueue(new(DhtFrame.Aborted, op, 0, false, false, default));
        else SendAttempt(to, DhtFrame.Aborted, op, owner);
    }

    public void Commit(ReadOnlySpan<int> ranks, in AttemptId op, int owner, bool put, ulong time, bool stable)
    {
        var body = Room(AttemptBytes + 9);
        WriteAttempt(ref body, op, owner);
        body.U64(time);
        body.U8((byte)((stable ? 1 : 0) | (put ? 2 : 0)));
        Send(ranks, DhtFrame.Commit, body.Length);
    }

    public void Abort(int to, in AttemptId op, int owner, bool acknowledge)
    {
        var body = Room(AttemptBytes + 1);
        WriteAttempt(ref body, op, owner);
        body.U8(acknowledge ? (byte)1 : (byte)0);
        Send(to, DhtFrame.Abort, body.Length);
    }

    public void Recover(int to, in AttemptId op, int owner, bool put, bool reject, bool withTime)
    {
        var body = Room(AttemptBytes + 1);
        WriteAttempt(ref body, op, owner);
        body.U8((byte)((put ? 1 : 0) | (reject ? 2 : 0) | (withTime ? 4 : 0)));
        Send(to, DhtFrame.Recover, body.Length);
    }

    /// <summary>Asks a holder to hand its part on to another member of its shard.</summary>
    public void AskForward(int to, in AttemptId op, int owner, int targetSlot)
    {
        var body = Room(AttemptBytes + 4);
        body.U8(0);
        WriteAttempt(ref body, op, owner);
        body.U16((ushort)targetSlot);
        Send(to, DhtFrame.Forward, body.Length);
    }

    /// <summary>Hands a part on: a proposal in the name of the member that took over.</summary>
    public void Forward(int to, int coordinator, ParticipantRecord op)
    {
        int size = AttemptBytes + 32 + 3 * op.SlotCount;
        for (int i = 0; i < op.UseCount; i++) size += op.Uses[i].Entry.Key.Length + (op.Uses[i].Incoming?.Length ?? 0) + KeyPartBytes;
        var body = Room(size);
        body.U8(1);
        body.U16((ushort)coordinator);
        ProposalHead(ref body, op.Key, op.Owner, op.IsPut, op.Payload, false, op.Level, 0, op.Proposed, op.Participants);
        body.Var((ulong)op.UseCount);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            KeyPart(ref body, use.Entry.Key, use.Effect, use.Incoming, use.Resolver, use.Expects, use.Expected);
        }
        Send(to, DhtFrame.Forward, body.Length);
    }

    /// <summary>Proposes the part of one shard, with the same bytes for all its participants.</summary>
    public void Propose(ReadOnlySpan<int> ranks, CoordinatedOperation op, ulong ackedBelow, ulong hint, ClientOperation client, int first, int count)
    {
        int size = AttemptBytes + 42 + 3 * op.Count;
        for (int i = first; i < first + count; i++) size += client.Parts[i].KeyLength + client.Parts[i].IncomingLength + KeyPartBytes;
        var body = Room(size);
        ProposalHead(ref body, op.Key, op.Owner, op.IsPut, client.Payload, op.Single, op.Level, ackedBelow, hint, op.Slots.AsSpan(0, op.Count));
        body.Var((ulong)count);
        for (int i = first; i < first + count; i++)
        {
            ref var part = ref client.Parts[i];
            KeyPart(ref body, client.KeyOf(i), part.Effect, client.IncomingOf(i), part.Resolver, part.Expects, part.Expected);
        }
        Send(ranks, DhtFrame.Propose, body.Length);
    }

    public void Get(int to, ulong request, uint attempt, int index, ConsistencyLevel level, ReadOnlySpan<byte> key)
    {
        var body = Room(30 + key.Length);
        body.Var(request);
        body.Var(attempt);
        body.Var((ulong)index);
        body.U8((byte)level);
        body.Blob(key);
        Send(to, DhtFrame.Get, body.Length);
    }

    /// <summary>Answers a read that waited.</summary>
    public void Value(ReadWait wait)
    {
        if (wait.Local) _values.Enqueue(new(wait.Request, wait.Attempt, wait.LocalIndex, wait.Value, wait.Version));
        else Value(wait.Rank, wait.Request, wait.Attempt, wait.LocalIndex, ReadStatus.Found, wait.Value, wait.Version);
    }

    public void Value(int to, ulong request, uint attempt, int index, ReadStatus status, byte[]? value, ulong version)
    {
        var body = Room(48 + (value?.Length ?? 0));
        body.Var(request);
        body.Var(attempt);
        body.Var((ulong)index);
        body.U8((byte)(value is null && status == ReadStatus.Found ? ReadStatus.Absent : status));
        body.Var(version);
        if (value is not null && MustWait(to))
        {
            _due.Add(to, new(DhtFrame.Value, new(new(0, request), attempt), body.Written.ToArray(), [(value, version)]));
            return;
        }
        if (value is not null) body.Raw(value);
        Send(to, DhtFrame.Value, body.Length);
    }

    public void Settle(int to, long arrived, ReadOnlySpan<long> settled)
    {
        var body = Room(20 + 10 * settled.Length);
        body.Var((ulong)arrived);
        body.Var((ulong)settled.Length);
        foreach (long index in settled) body.Var((ulong)index);
        Send(to, DhtFrame.Settle, body.Length);
    }

    /// <summary>Asks how a put of another member's session ended.</summary>
    public void AskEnd(int to, in AttemptId op, int owner)
    {
        var body = Room(AttemptBytes);
        WriteAttempt(ref body, op, owner);
        Send(to, DhtFrame.AskEnd, body.Length);
    }

    public void End(int to, in AttemptId op, int owner, EndStatus status, KnownEnd? end)
    {
        int count = end?.Versions.Count ?? 0, size = AttemptBytes + 6 + (count * 10);
        for (int i = 0; i < count; i++) size += PutReportCodec.SizeOf(end!.ReportAt(i));
        var body = Room(size);
        WriteAttempt(ref body, op, owner);
        body.U8((byte)status);
        body.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            body.Var(end!.Versions[i]);
            PutReportCodec.Write(ref body, end.ReportAt(i));
        }
        if (count > 0 && MustWait(to))
        {
            // A member that is owed too much gets no answer, and asks again.
            if (!OwesTooMuch(to)) _due.Add(to, new(DhtFrame.End, op, body.Written.ToArray(), []));
            return;
        }
        Send(to, DhtFrame.End, body.Length);
    }

    public BodyWriter Room(int size) => new(state.Port.Reserve(size));

    public void Send(int to, FrameType type, int length)
    {
        state.Counters.CountSent(type, 1);
        state.Port.Send(to, type, length);
    }

    /// <summary>Reads what <see cref="WriteAttempt"/> wrote; fails on a member without a session.</summary>
    public AttemptId ReadAttempt(ref BodyReader from, out int owner)
    {
        owner = from.U16();
        UInt128 session = 0;
        if (owner == ForeignSession)
        {
            session = from.U128();
            owner = -1;
        }
        else if (owner < state.SessionOfRank.Length) session = state.SessionOfRank[owner];
        ulong sequence = from.Var(), attempt = from.Var(), payload = (attempt & 1) != 0 ? from.U64() : 0;
        if (session == 0 || attempt >> 33 != 0 || ((attempt & 1) != 0 && payload == 0)) from.Fail();
        return new(new(session, sequence), (uint)(attempt >> 1), payload);
    }

    private bool IsLocal(int to) => to == state.Rank;

    private void Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        state.Counters.CountSent(type, ranks.Length);
        state.Port.Send(ranks, type, length);
    }

    private void SendAttempt(int to, FrameType type, in AttemptId op, int owner)
    {
        var body = Room(AttemptBytes);
        WriteAttempt(ref body, op, owner);
        Send(to, type, body.Length);
    }

    private static void WriteAttempt(ref BodyWriter to, in AttemptId op, int owner)
    {
        to.U16(owner < 0 ? ForeignSession : (ushort)owner);
        if (owner < 0) to.U128(op.Id.Session);
        to.Var(op.Id.Sequence);
        to.Var(((ulong)op.Attempt << 1) | (op.Payload != 0 ? 1UL : 0));
        if (op.Payload != 0) to.U64(op.Payload);
    }

    private static void ProposalHead(ref BodyWriter to, in AttemptId op, int owner, bool put, ulong payload, bool single, ConsistencyLevel level, ulong ackedBelow, ulong hint, ReadOnlySpan<ushort> slots)
    {
        WriteAttempt(ref to, op, owner);
        to.U8((byte)((put ? 1 : 0) | (single ? 2 : 0) | (level == ConsistencyLevel.Ordered ? 4 : 0)));
        if (put) to.U64(payload);
        to.Var(ackedBelow);
        to.U64(hint);
        to.Var((ulong)slots.Length);
        foreach (ushort slot in slots) to.Var(slot);
    }

    private static void KeyPart(ref BodyWriter to, ReadOnlySpan<byte> key, KeyEffect effect, ReadOnlySpan<byte> value, ulong resolver, bool expects, ulong expected)
    {
        to.Blob(key);
        if (effect == KeyEffect.Read) return;
        to.U8((byte)((byte)effect | (expects ? Expectation : 0)));
        if (expects) to.Var(expected);
        if (effect is KeyEffect.Put or KeyEffect.Merge) to.Blob(value);
        if (effect == KeyEffect.Merge) to.U64(resolver);
    }

    private static int ResultBytes(ParticipantRecord op)
    {
        int size = 5 + PutReportCodec.SizeOf(op.Report);
        for (int i = 0; i < op.UseCount; i++) size += 20 + (op.IsPut ? 0 : op.Uses[i].Value?.Length ?? 0);
        return size;
    }

    private static void Result(ref BodyWriter to, ParticipantRecord op)
    {
        to.Var((ulong)op.UseCount);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            if (op.IsPut) to.Var(use.Version);
            else ReadResult(ref to, use.Value, use.Version);
        }
        if (op.IsPut) PutReportCodec.Write(ref to, op.Report);
    }

    public static void ReadResult(ref BodyWriter to, byte[]? value, ulong version)
    {
        to.Var(version);
        to.U8(value is null ? (byte)0 : (byte)1);
        if (value is not null) to.Blob(value);
    }
}
