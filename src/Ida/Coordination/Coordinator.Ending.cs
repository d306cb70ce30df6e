namespace Ida.Coordination;

/// <summary>How calls end: with a result, with an error, or without their operation. Each ends once, and leaves the one list in which it stood.</summary>
internal sealed partial class Coordinator
{
    /// <summary>
    /// The caller no longer waits. A put that was sent goes on without it, even if a part of its outcome is known: the rest is on its way.
    /// A retry that was not sent says nothing about the put it repeats.
    /// </summary>
    private void GiveUp(ClientOperation op, Exception reason)
    {
        if (!op.Kind.Changes || (op.Phase != OperationPhase.Sent && op.Requested is null)) Finish(op, reason);
        else if (op.Phase == OperationPhase.Sent) Detach(op, _errors.Unresolved(op, $"{CallFailures.Why(op, reason)} after the put was sent; it goes on.", reason));
        else Finish(op, _errors.Unresolved(op, $"{CallFailures.Why(op, reason)} before the retry was sent; nothing new is known of the put.", reason));
    }

    /// <summary>A bound was reached, or a participant will never hold the operation. A retry that was refused says nothing about the put it repeats.</summary>
    public void Refuse(ClientOperation op, DhtException reason) =>
        Finish(op, op.Requested is null ? reason : _errors.Unresolved(op, "The retry was not executed: " + reason.Message, reason));

    private void Detach(ClientOperation op, Exception error)
    {
        if (!op.Move(OperationPhase.Detached)) return;
        op.Error = error;
        _state.Node.Complete(op);
    }

    public void Finish(ClientOperation op, Exception? error)
    {
        var phase = op.Phase;
        if (!op.Move(OperationPhase.Finished)) return;
        switch (phase)
        {
            case OperationPhase.Waiting:
                if (op.Requested is not null) _pending.Remove(op.Id);
                Puts.EndWait(op);
                _open.Dequeue(op);
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
            _state.Node.Complete(op);
        }
        op.LetGo();
        AdmitWaiting();
    }

    private void LeavePlace(ClientOperation op)
    {
        EndHold(op);
        _open.Return(op);
        _pending.Remove(op.Id);
        Puts.End(op);
        _open.InFlight.Remove(op);
        if (op.Running is not { } running) return;
        running.Client = null;
        op.Running = null;
    }
}
