using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Interleavings.Scheduling;

namespace Ida;

/// <summary>
/// Stands in for the real one with its coordinator, by the same rules: an operation is done at once, or is sent and done later; one that its caller gives up ends, or goes on without the caller.
/// </summary>
internal sealed class DhtLayer : IOperationTaker, ITimerTarget, IStopListener
{
    private const long Tick = 20_000;
    private readonly Schedule _schedule;
    private readonly List<ClientOperation> _inFlight = [];

    public DhtLayer(INode node)
    {
        (Node, _schedule) = (node, Lane.Current!.Schedule);
        Counters = new(_schedule);
        node.AtStop(this);
    }

    public INode Node { get; }

    public DhtCounters Counters { get; }

    public string GroupName => "group";

    /// <summary>How many operations the loop has at the moment.</summary>
    public int InFlight => _inFlight.Count;

    public void Start(ClientOperation op)
    {
        if (op.CancelRequested)
        {
            Finish(op, new OperationCanceledException());
            return;
        }
        if (_schedule.Draw(3) == 0)
        {
            Finish(op, null);
            return;
        }
        op.Move(OperationPhase.Admitted);
        op.MarkSent();
        _inFlight.Add(op);
        Node.SetTimer(Node.Now + Tick, this, 0);
    }

    public void Cancel(ClientOperation op)
    {
        if (op.Phase is OperationPhase.Sent) GiveUp(op);
    }

    public void OnTimer(long token)
    {
        foreach (var op in _inFlight.ToArray())
        {
            if (op.CancelRequested && op.Phase == OperationPhase.Sent) GiveUp(op);
            if (op.Phase != OperationPhase.Finished && _schedule.Draw(2) == 0) Finish(op, null);
        }
        if (_inFlight.Count > 0) Node.SetTimer(Node.Now + Tick, this, 0);
    }

    public void OnStop(Exception reason)
    {
        foreach (var op in _inFlight.ToArray()) Finish(op, reason);
    }

    private void GiveUp(ClientOperation op)
    {
        if (!op.Kind.Changes)
        {
            Finish(op, new OperationCanceledException());
            return;
        }
        if (!op.Move(OperationPhase.Detached)) return;
        op.Error = new OutcomeUnknownException(op.Id, "It goes on.");
        Node.Complete(op);
    }

    private void Finish(ClientOperation op, Exception? error)
    {
        var phase = op.Phase;
        if (!op.Move(OperationPhase.Finished)) return;
        _inFlight.Remove(op);
        if (phase != OperationPhase.Detached)
        {
            op.Error = error;
            // The number that its caller asked for.
            op.Parts[0].Version = op.KeyOf(0)[^1];
            Node.Complete(op);
        }
        op.LetGo();
    }
}
