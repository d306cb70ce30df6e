using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Rejected: a participant will never hold an attempt. Abort and Aborted: a coordinator asks for that, and the answer. Each is an attempt with one byte, Aborted with none.</summary>
internal sealed partial class DhtMessages
{
    /// <summary>The byte is the reason.</summary>
    public void Rejected(int to, in AttemptId op, int owner, RejectReason reason)
    {
        if (IsLocal(to)) _local.Enqueue(new(DhtFrame.Rejected, op, 0, false, false, reason));
        else SendShort(to, DhtFrame.Rejected, op, owner, (byte)reason);
    }

    public void OnRejected(int from, ref BodyReader body)
    {
        if (TryReadShort(ref body, (byte)RejectReason.Expired, out var key, out _, out byte reason)) Coordinator.Attempts.OnRejected(key, from, (RejectReason)reason);
    }

    /// <summary>The byte says whether the coordinator waits for the answer.</summary>
    public void Abort(int to, in AttemptId op, int owner, bool acknowledge) => SendShort(to, DhtFrame.Abort, op, owner, acknowledge ? (byte)1 : (byte)0);

    public void OnAbort(int from, ref BodyReader body)
    {
        if (!TryReadShort(ref body, 1, out var key, out int owner, out byte acknowledge)) return;
        bool? aborted = Participant.Abort(key, from);
        if (acknowledge == 0 || aborted is null) return;
        // If this member has the commit of the attempt, the caller must not be told that it was not executed.
        if (aborted == true) SendAttempt(from, DhtFrame.Aborted, key, owner);
        else Executed(from, key, owner, 0, default);
    }

    public void OnAborted(int from, ref BodyReader body)
    {
        if (TryReadAttempt(ref body, out var key, out _)) Coordinator.Attempts.OnAborted(key, from);
    }
}
