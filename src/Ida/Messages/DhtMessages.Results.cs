using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Coordination;
using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Proposed, Quiescent and Executed: answers of a participant that bring results. They go straight into the caller's operation.</summary>
internal sealed partial class DhtMessages
{
    public void Proposed(int to, ParticipantRecord op, bool quiescent, bool result)
    {
        if (IsLocal(to))
        {
            if (result) Coordinator.Attempts.TakeResults(op, executed: false);
            _local.Enqueue(new(DhtFrame.Proposed, op.Key, op.Proposed, quiescent, result, default));
            return;
        }
        Answer(to, DhtFrame.Proposed, op, op.Proposed, quiescent, result);
    }

    public void Quiescent(int to, ParticipantRecord op, bool early)
    {
        if (IsLocal(to))
        {
            if (op.HasResult) Coordinator.Attempts.TakeResults(op, executed: true);
            _local.Enqueue(new(DhtFrame.Quiescent, op.Key, op.Time, !early, op.HasResult, default));
            return;
        }
        Answer(to, DhtFrame.Quiescent, op, op.Time, !early, op.HasResult);
    }

    /// <summary>Attempt, time u64, flags u8 (quiescent, with result, too large for a frame), then the result.</summary>
    private void Answer(int to, FrameType type, ParticipantRecord op, ulong time, bool quiescent, bool result)
    {
        bool values = result && !op.TooLarge, waits = values && op.BringsValues && MustWait(to);
        // A get that waits is kept as its values and not as bytes.
        var body = send.Room(AttemptBytes + 9 + (values && (op.Kind.Changes || !waits) ? ResultBytes(op) : 0));
        WriteAttempt(ref body, op.Key, op.Owner);
        body.U64(time);
        body.U8((byte)((quiescent ? 1 : 0) | (result ? 2 : 0) | (result && op.TooLarge ? 4 : 0)));
        if (values && op.Kind.Changes) WriteResult(ref body, op);
        if (waits)
        {
            Keep(to, type, body.Written, op);
            return;
        }
        if (values && !op.Kind.Changes) WriteResult(ref body, op);
        send.Send(to, type, body.Length);
    }

    // Rare: it may allocate.
    private void Keep(int to, FrameType type, ReadOnlySpan<byte> head, ParticipantRecord op)
    {
        if (op.Kind.Changes)
        {
            _due.Add(to, new(type, op.Key, head.ToArray(), []));
            return;
        }
        var values = new (byte[]? Value, ulong Version)[op.UseCount];
        for (int i = 0; i < values.Length; i++) values[i] = (op.Uses[i].Value, op.Uses[i].Version);
        _due.Add(to, new(type, op.Key, head.ToArray(), values, WriteWaitingResult));
    }

    public void OnProposed(int from, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out _);
        ulong time = body.U64();
        byte flags = body.U8();
        if (body.Failed || time == 0 || time > HybridClock.MaxTime || !ReadResult(key, from, flags, executed: false, time, ref body)) Refuse(RefusalReason.Malformed);
        else if (time > state.Clock.Limit(state.Node.Now)) RefuseTime();
        else Coordinator.Attempts.OnProposed(key, from, time, (flags & 1) != 0, (flags & 2) != 0);
    }

    /// <summary>
    /// The attempt stays without a time here. It must not be aborted: if all have proposed, a member that takes over may commit it.
    /// The flush ends it.
    /// </summary>
    private void RefuseTime()
    {
        Refuse(RefusalReason.Unexpected);
        state.AskForView();
    }

    public void OnQuiescent(int from, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out _);
        ulong time = body.U64();
        byte flags = body.U8();
        if (body.Failed || time > HybridClock.MaxTime || !ReadResult(key, from, flags, executed: true, OperationPart.Executed, ref body)) Refuse(RefusalReason.Malformed);
        else Coordinator.Attempts.OnQuiescent(key, from, (flags & 1) != 0);
    }

    /// <summary>Attempt, count var, that many versions var, and the report if there are any versions.</summary>
    public void Executed(int to, in AttemptId op, int owner, int parts, in Outcome outcome)
    {
        if (IsLocal(to))
        {
            Coordinator.Attempts.TakeOutcome(op, outcome);
            _local.Enqueue(new(DhtFrame.Executed, op, 0, false, true, default));
            return;
        }
        var body = send.Room(AttemptBytes + 5 + (parts * 10) + PutReportCodec.SizeOf(outcome.Report));
        WriteAttempt(ref body, op, owner);
        body.Var((ulong)parts);
        for (int i = 0; i < parts; i++) body.Var(outcome.VersionAt(i));
        if (parts > 0) PutReportCodec.Write(ref body, outcome.Report);
        if (parts > 0 && outcome.Report?.Value is not null && MustWait(to)) _due.Add(to, new(DhtFrame.Executed, op, body.Written.ToArray(), []));
        else send.Send(to, DhtFrame.Executed, body.Length);
    }

    public void OnExecuted(int from, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out _);
        int count = body.Count(DhtLimits.Keys, 1), first = 0;
        ClientOperation? client = Coordinator.Attempts.TryFind(key, from, out var running, out _) ? running.Client : null;
        // There are no results if the participant knows only that the put was executed.
        if (!EndsBehind(body, count, OperationKind.Put) || (client is not null && count > 0 && !client.HasParts(ShardOfRank(from), count, out first)))
        {
            Refuse(RefusalReason.Malformed);
            return;
        }
        // No member remembers that a read was executed; but an aborted read may have got its commit from a member that took over.
        if (running is { Kind.Changes: false } && (count > 0 || running.Phase != AttemptPhase.Aborting))
        {
            Refuse(RefusalReason.Unexpected);
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
        Coordinator.Attempts.OnExecuted(key, from);
    }

    private static int ResultBytes(ParticipantRecord op)
    {
        int size = 5 + op.Kind.SizeOfReport(op.Report);
        for (int i = 0; i < op.UseCount; i++) size += op.Kind.SizeOfResult(op.Uses[i].Value);
        return size;
    }

    /// <summary>Count var, the result of each key, the report.</summary>
    private static void WriteResult(ref BodyWriter to, ParticipantRecord op)
    {
        to.Var((ulong)op.UseCount);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            op.Kind.WriteResult(ref to, use.Value, use.Version);
        }
        op.Kind.WriteReport(ref to, op.Report);
    }

    /// <summary>What <see cref="WriteResult"/> writes, for a read that waited.</summary>
    public static void WriteWaitingResult(ref BodyWriter to, (byte[]? Value, ulong Version)[] values)
    {
        to.Var((ulong)values.Length);
        foreach (var (value, version) in values) GetKind.Write(ref to, value, version);
    }

    /// <summary>Reads results into the caller's operation; skips them if no call waits for them.</summary>
    private bool ReadResult(in AttemptId key, int from, byte flags, bool executed, ulong time, ref BodyReader body)
    {
        if ((flags & 2) == 0) return body.Complete;
        // No such attempt is driven here: the frame has no effect.
        if (!Coordinator.Attempts.TryFind(key, from, out var running, out int index)) return true;
        bool tooLarge = (flags & 4) != 0;
        // Only values are too large for a frame. Of a put it would say "nothing was executed", though it may be.
        if (tooLarge && running.Kind.Changes) return false;
        int count = tooLarge ? 0 : body.Count(DhtLimits.Keys, 1), first = 0;
        if (!EndsBehind(body, count, running.Kind)) return false;
        if (running.Client is not { } client || !Attempts.Counts(running, index, executed)) return true;
        if (!tooLarge && !client.HasParts(ShardOfRank(from), count, out first)) return false;
        Attempts.MarkTooLarge(running, index, tooLarge);
        // The parts of a shard get their results together. A read may get results more than once; the last ones count.
        if (count == 0 || (client.Kind.Changes && !Attempts.IsNewer(client.Parts[first], time))) return true;
        int bytes = client.Kind.Changes ? -ValueBytes(client.Parts[first].Report) : body.Remaining;
        for (int i = first; i < first + count; i++)
        {
            ref var part = ref client.Parts[i];
            bytes -= part.Value?.Length ?? 0;
            (part.ResultTime, part.Version, part.Report, part.HasResult) = (time, client.Kind.ReadResult(ref body, ref part.Value), null, true);
        }
        bytes += ValueBytes(client.Parts[first].Report = client.Kind.ReadReport(ref body, count));
        Coordinator.CountAnswer(client, bytes);
        return true;
    }

    /// <summary>Whether the rest of a frame is exactly this many results: a frame that is not whole has no effect.</summary>
    private static bool EndsBehind(BodyReader body, int count, OperationKind kind)
    {
        kind.SkipResults(ref body, count);
        return body.Complete;
    }

    private static int ValueBytes(PutReport? report) => report?.Value?.Length ?? 0;
}
