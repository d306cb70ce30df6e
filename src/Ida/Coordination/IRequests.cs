using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>What a coordinator asks and tells participants in other processes, and how coordinators ask each other for the end of a put.</summary>
internal interface IRequests
{
    /// <summary>Proposes the part of one shard, with the same bytes for all its participants.</summary>
    void Propose(ReadOnlySpan<int> ranks, CoordinatedOperation op, ulong ackedBelow, ulong hint, ClientOperation client, int first, int count);

    /// <summary>All have proposed: the attempt has its time.</summary>
    void Commit(ReadOnlySpan<int> ranks, in AttemptId op, int owner, OperationKind kind, ulong time, bool stable);

    /// <summary>All are quiescent.</summary>
    void Stable(ReadOnlySpan<int> ranks, in AttemptId op, int owner);

    /// <summary>The attempt can never commit; with <paramref name="acknowledge"/>, the participant says that it rejects it from now on.</summary>
    void Abort(int to, in AttemptId op, int owner, bool acknowledge);

    /// <summary>A takeover asks what a participant holds; with <paramref name="reject"/>, an attempt that it does not hold is rejected from then on.</summary>
    void Recover(int to, in AttemptId op, int owner, OperationKind kind, bool reject, bool withTime);

    /// <summary>Asks a holder to hand its part on to another member of its shard.</summary>
    void AskForward(int to, in AttemptId op, int owner, int targetSlot);

    /// <summary>Hands a part on: a proposal in the name of the member that took over.</summary>
    void Forward(int to, int coordinator, ParticipantRecord op);

    /// <summary>Reads one key.</summary>
    void Get(int to, ulong request, uint attempt, int index, ConsistencyLevel level, ReadOnlySpan<byte> key);

    /// <summary>Asks how a put of another member's session ended.</summary>
    void AskEnd(int to, in AttemptId op, int owner);

    /// <summary>Answers how a put of this member's session ended.</summary>
    void End(int to, in AttemptId op, int owner, EndStatus status, KnownEnd? end);
}
