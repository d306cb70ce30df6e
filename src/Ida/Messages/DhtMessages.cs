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
/// participant or the coordinator of this process. The methods that take a <see cref="BodyReader"/> get the frames of other members that have a slot; they parse them in place and check
/// them. A malformed frame has no effect.
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

    /// <summary>Reads a frame that is an attempt; a malformed one is refused.</summary>
    private bool TryReadAttempt(ref BodyReader from, out AttemptId key, out int owner)
    {
        key = ReadAttempt(ref from, out owner);
        if (from.Complete) return true;
        Refuse(RefusalReason.Malformed);
        return false;
    }

    /// <summary>Reads a frame that is an attempt and a byte, which is at most <paramref name="most"/>; a malformed one is refused.</summary>
    private bool TryReadShort(ref BodyReader from, byte most, out AttemptId key, out int owner, out byte flag)
    {
        key = ReadAttempt(ref from, out owner);
        flag = from.U8();
        if (from.Complete && flag <= most) return true;
        Refuse(RefusalReason.Malformed);
        return false;
    }

    private int ShardOfRank(int rank) => state.Map!.ShardOfSlot(state.Map.SlotOfRank(rank));

    private void Refuse(RefusalReason reason) => state.Node.Counters.Refuse(reason);
}
