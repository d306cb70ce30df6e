using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Coordination;
using Ida.Maps;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>
/// What coordinators and participants say to each other (dht-order.md#messages). Each file has everything about some frames: how they are written, how they are read, and what they ask of the
/// participant or the coordinator of this process. Incoming frames are parsed in place and checked; a malformed one has no effect.
/// </summary>
/// <remarks>
/// .Propose: Propose, Forward. .Results: Proposed, Quiescent, Executed. .Commit: Commit, Stable. .Refusals: Rejected, Abort, Aborted. .Takeover: Recover, NotHeld. .Reads: Get, Value.
/// .Ends: AskEnd, End. .Local is the short cut for a member that is both coordinator and participant; .Waiting keeps answers until a link has room.
/// </remarks>
internal sealed partial class DhtMessages(DhtState state, DhtSender send, KeyPlaces places) : IAnswers, IRequests
{
    private const int AttemptBytes = 2 + 16 + 10 + 5 + 8;
    private const ushort ForeignSession = ushort.MaxValue;

    /// <summary>Gets the frames of coordinators.</summary>
    public Participant Participant { get; set; } = null!;

    /// <summary>Gets the frames of participants.</summary>
    public Coordinator Coordinator { get; set; } = null!;

    /// <summary>A frame of another member that has a slot.</summary>
    public void OnFrame(int from, FrameType type, ref BodyReader body)
    {
        switch (type)
        {
            case DhtFrame.Propose: OnPropose(from, from, ref body); break;
            case DhtFrame.Proposed: OnProposed(from, ref body); break;
            case DhtFrame.Commit: OnCommit(from, ref body); break;
            case DhtFrame.Quiescent: OnQuiescent(from, ref body); break;
            case DhtFrame.Executed: OnExecuted(from, ref body); break;
            case DhtFrame.Get: OnGet(from, ref body); break;
            case DhtFrame.Value: OnValue(from, ref body); break;
            case DhtFrame.Forward: OnForward(from, ref body); break;
            case DhtFrame.AskEnd: OnAskEnd(from, ref body); break;
            case DhtFrame.End: OnEnd(from, ref body); break;
            default: OnShort(from, type, ref body); break;
        }
    }

    /// <summary>Frames that hold an attempt and at most one byte.</summary>
    private void OnShort(int from, FrameType type, ref BodyReader body)
    {
        var key = ReadAttempt(ref body, out int owner);
        byte flag = body.Remaining > 0 ? body.U8() : (byte)0;
        if (!body.Complete)
        {
            Refuse(RefusalReason.Malformed);
            return;
        }
        switch (type)
        {
            case DhtFrame.Stable: OnStable(from, key); break;
            case DhtFrame.Abort: OnAbort(from, key, owner, flag); break;
            case DhtFrame.Aborted: Coordinator.Attempts.OnAborted(key, from); break;
            case DhtFrame.NotHeld: Coordinator.Takeovers.OnNotHeld(key, from, flag != 0); break;
            case DhtFrame.Rejected when flag <= (byte)RejectReason.Expired: Coordinator.Attempts.OnRejected(key, from, (RejectReason)flag); break;
            case DhtFrame.Recover: OnRecover(from, key, owner, flag); break;
            default: Refuse(RefusalReason.UnknownType); break;
        }
    }

    private void SendAttempt(int to, FrameType type, in AttemptId op, int owner)
    {
        var body = send.Room(AttemptBytes);
        WriteAttempt(ref body, op, owner);
        send.Send(to, type, body.Length);
    }

    private void SendShort(int to, FrameType type, in AttemptId op, int owner, byte flag)
    {
        var body = send.Room(AttemptBytes + 1);
        WriteAttempt(ref body, op, owner);
        body.U8(flag);
        send.Send(to, type, body.Length);
    }

    /// <summary>Rank u16 of the session's owner, or 65,535 and the session u128; sequence var, attempt var with a bit for a payload, then the payload u64.</summary>
    private static void WriteAttempt(ref BodyWriter to, in AttemptId op, int owner)
    {
        to.U16(owner < 0 ? ForeignSession : (ushort)owner);
        if (owner < 0) to.U128(op.Id.Session);
        to.Var(op.Id.Sequence);
        to.Var(((ulong)op.Attempt << 1) | (op.Payload != 0 ? 1UL : 0));
        if (op.Payload != 0) to.U64(op.Payload);
    }

    /// <summary>Reads what <see cref="WriteAttempt"/> wrote; fails if the owner has no session.</summary>
    private AttemptId ReadAttempt(ref BodyReader from, out int owner)
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

    private int ShardOfRank(int rank) => state.Map!.ShardOfSlot(state.Map.SlotOfRank(rank));

    private void Refuse(RefusalReason reason) => state.Node.Counters.Refuse(reason);
}
