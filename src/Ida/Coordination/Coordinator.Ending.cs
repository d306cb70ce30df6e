namespace Ida.Coordination;

/// <summary>How calls end: with a result, with an error, or without their operation. Each ends once, and leaves the one list in which it stood.</summary>
internal sealed partial class Coordinator
{
    /// <summary>
    /// The caller does not wait any longer. A put that was sent goes on without it, even where a part of its outcome is known: the rest is on its way.
    /// A retry that was not sent says nothing of the put it repeats.
    /// </summary>
    private void GiveUp(ClientOperation op, Exception reason)
    {
        if (!op.Kind.Changes || (op.Phase != OperationPhase.Sent && op.Requested is null)) Finish(op, reason);
        else if (op.Phase == OperationPhase.Sent) Detach(op, Unresolved(op, $"{Why(op, reason)} after the put was sent; it goes on.", reason));
        else Finish(op, Unresolved(op, $"{Why(op, reason)} before the retry was sent; nothing new is known of the put.", reason));
    }

    private static string Why(ClientOperation op, Exception reason) =>
        reason is OperationCanceledException ? "The call was cancelled" : $"The time of the call, {TimeSpan.FromTicks(op.Timeout / 100)}, was over";

    /// <summary>A bound was reached, or a participant will never hold it. A retry that was refused says nothing of the put it repeats.</summary>
    private void Refuse(ClientOperation op, DhtException reason) =>
        Finish(op, op.Requested is null ? reason : Unresolved(op, "The retry was not executed: " + reason.Message, reason));

    /// <summary>What an error says last that ends a call with nothing executed: not so of a retry, since the put it repeats may be executed.</summary>
    private static string Nothing(ClientOperation op) => op.Requested is null ? " Nothing was executed." : "";

    private OutcomeUnknownException Unresolved(ClientOperation op, string message, Exception? reason = null) => About(op, new OutcomeUnknownException(op.Id, message, reason));

    /// <summary>The view of this member's part, or the last that it had; null before the first.</summary>
    private ulong? LastView => state.View == 0 ? null : state.View;

    /// <summary>Gives the error of a call what is known of where it came about: from the member with a rank, else the one for which the operation waits.</summary>
    private T About<T>(ClientOperation op, T error, int rank = -1) where T : DhtException
    {
        if (rank < 0) rank = Awaited(op);
        int slot = state.Map?.SlotOfRank(rank) ?? -1;
        if (slot >= 0) (error.Peer, error.Shard) = (state.Map!.Slots[slot].Member, state.Map.ShardOfSlot(slot));
        else if (op.Parts[0].Shard == op.Parts[op.PartCount - 1].Shard) error.Shard = op.Parts[0].Shard;
        error.View = LastView;
        error.QueueDepth = WaitingOperations;
        return error;
    }

    /// <summary>The rank of a member for which an operation waits: for room or an answer, or first for its proposal; −1 where it waits for none.</summary>
    private int Awaited(ClientOperation op)
    {
        if (op.Awaits >= 0 || op.Running is not { } running || state.Map is not { } map) return op.Awaits;
        foreach (var answer in (ReadOnlySpan<SlotFlags>)[SlotFlags.Proposed | Answered, Answered])
            for (int i = 0; i < running.Count; i++)
                if ((running.Flags[i] & answer) == SlotFlags.None) return map.RankOfSlot(running.Slots[i]);
        return -1;
    }

    private DhtException Late(ClientOperation op)
    {
        var waited = TimeSpan.FromTicks(op.Timeout / 100);
        if (!state.Acts) return About(op, new ViewUnavailableException($"No view to act in within {waited}."));
        return state.Blocked || !state.Port.HoldsLease ? About(op, new ViewUnavailableException($"No contact with the primary partition within {waited}."))
            : About(op, new OperationNotExecutedException($"Not executed within {waited}; {_inFlight.Count} operations are in flight and {_waiting.Count} wait at this member."));
    }

    private void Detach(ClientOperation op, Exception error)
    {
        if (!op.Move(OperationPhase.Detached)) return;
        op.Error = error;
        state.Node.Complete(op);
    }

    private void Finish(ClientOperation op, Exception? error)
    {
        var phase = op.Phase;
        if (!op.Move(OperationPhase.Finished)) return;
        switch (phase)
        {
            case OperationPhase.Waiting:
                if (op.Requested is not null) _pending.Remove(op.Id);
                _named.Remove(op);
                LeaveQueue(op);
                break;
            case OperationPhase.Following:
                op.Leader!.Follower = null;
                op.Leader = null;
                break;
            case OperationPhase.Admitted or OperationPhase.Sent or OperationPhase.Detached:
                LeavePlace(op);
                if (op.Follower is { } follower) PassOn(op, follower, error);
                break;
        }
        if (phase == OperationPhase.Detached)
        {
            Remember(op, error);
        }
        else
        {
            op.Error = error;
            state.Node.Complete(op);
        }
        op.LetGo();
        AdmitWaiting();
    }

    private void LeaveQueue(ClientOperation op)
    {
        _waiting.Remove(op);
        _waitingBytes -= op.AskedBytes;
    }

    private void LeavePlace(ClientOperation op)
    {
        ReturnShare(op);
        _pending.Remove(op.Id);
        RemoveInFlight(op);
        if (op.Running is not { } running) return;
        running.Client = null;
        op.Running = null;
    }
}
