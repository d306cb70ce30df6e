using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Commit and Stable: a coordinator tells the time of an attempt, and that all have executed it. A participant tells the latter to members that ask later.</summary>
internal sealed partial class DhtMessages
{
    /// <summary>Attempt, time u64, flags u8 (stable, kind).</summary>
    public void Commit(ReadOnlySpan<int> ranks, in AttemptId op, int owner, OperationKind kind, ulong time, bool stable)
    {
        var body = send.Room(AttemptBytes + 9);
        WriteAttempt(ref body, op, owner);
        body.U64(time);
        body.U8((byte)((stable ? 1 : 0) | (kind.Number << 1)));
        send.Send(ranks, DhtFrame.Commit, body.Length);
    }

    public void OnCommit(int from, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out int owner);
        ulong time = body.U64();
        byte flags = body.U8();
        if (!body.Complete || time == 0 || time > HybridClock.MaxTime) Refuse(RefusalReason.Malformed);
        else if (time > state.Clock.Limit(state.Node.Now)) Participant.RefuseCommit(from);
        else Participant.Commit(key, owner, from, OperationKind.Of(flags >> 1), time, (flags & 1) != 0);
    }

    public void Stable(int to, in AttemptId op, int owner)
    {
        if (IsLocal(to)) _local.Enqueue(new(DhtFrame.Stable, op, 0, false, false, default));
        else SendAttempt(to, DhtFrame.Stable, op, owner);
    }

    public void Stable(ReadOnlySpan<int> ranks, in AttemptId op, int owner)
    {
        var body = send.Room(AttemptBytes);
        WriteAttempt(ref body, op, owner);
        send.Send(ranks, DhtFrame.Stable, body.Length);
    }

    public void OnStable(int from, ref BodyReader body)
    {
        if (TryReadAttempt(ref body, out var key, out _) && Participant.Stable(key, from)) Coordinator.Takeovers.OnStable(key);
    }
}
