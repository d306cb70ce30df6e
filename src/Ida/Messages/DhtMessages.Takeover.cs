using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Recover: a member that takes over asks what a participant holds. NotHeld: the answer if it holds nothing, else it answers as to a proposal. Each is an attempt with one byte.</summary>
internal sealed partial class DhtMessages
{
    /// <summary>The byte has the kind and two flags: reject the attempt if it is not held; the time is known.</summary>
    public void Recover(int to, in AttemptId op, int owner, OperationKind kind, bool reject, bool withTime) =>
        SendShort(to, DhtFrame.Recover, op, owner, (byte)(kind.Number | (reject ? 2 : 0) | (withTime ? 4 : 0)));

    public void OnRecover(int from, ref BodyReader body)
    {
        if (!TryReadShort(ref body, 7, out var key, out int owner, out byte flags)) return;
        Participant.Recover(key, owner, from, OperationKind.Of(flags), reject: (flags & 2) != 0, (flags & 4) != 0);
    }

    /// <summary>The byte repeats whether the asker knew the time.</summary>
    public void NotHeld(int to, in AttemptId op, int owner, bool askedWithTime)
    {
        if (IsLocal(to)) _local.Enqueue(new(DhtFrame.NotHeld, op, 0, false, false, default, askedWithTime));
        else SendShort(to, DhtFrame.NotHeld, op, owner, askedWithTime ? (byte)1 : (byte)0);
    }

    public void OnNotHeld(int from, ref BodyReader body)
    {
        if (TryReadShort(ref body, 1, out var key, out _, out byte askedWithTime)) Coordinator.Takeovers.OnNotHeld(key, from, askedWithTime != 0);
    }
}
