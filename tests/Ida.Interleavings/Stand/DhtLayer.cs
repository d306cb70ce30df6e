using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Interleavings.Scheduling;

namespace Ida;

/// <summary>
/// Stands for the real one with its coordinator: an operation is done at once, or is sent and done later; what a caller gives up ends, or goes on without it, by the same rules.
/// </summary>
internal sealed class DhtLayer : ITimerTarget, IStopListener
{
    private const long Tick = 20_000;
    private readonly Schedule _schedule;
    private readonly List<ClientOp> _inFlight = [];

    public DhtLayer(INode node)
    {
        (Node, _schedule) = (node, Lane.Current!.Schedule);
        Counters = new(_schedule);
        node.AtStop(this);
    }

    public INode Node { get; }

    public DhtCounters Counters { get; }

    /// <summary>What the loop has at the moment.</summary>
    public int InFlight => _inFlight.Count;

    public ulong Hash(ReadOnlySpan<byte> key) => key[^1];

    public int ShardOf(ulong hash) => 0;

    public void Start(ClientOp op)
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
        op.Move(OpPhase.Admitted);
        op.MarkSent();
        _inFlight.Add(op);
        Node.SetTimer(Node.Now + Tick, this, 0);
    }

    public void Cancel(ClientOp op)
    {
        if (op.Phase is OpPhase.Sent) GiveUp(op);
    }

    public void OnTimer(long token)
    {
        foreach (var op in _inFlight.ToArray())
        {
            if (op.CancelRequested && op.Phase == OpPhase.Sent) GiveUp(op);
            if (op.Phase != OpPhase.Finished && _schedule.Draw(2) == 0) Finish(op, null);
        }
        if (_inFlight.Count > 0) Node.SetTimer(Node.Now + Tick, this, 0);
    }

    public void OnStop(Exception reason)
    {
        foreach (var op in _inFlight.ToArray()) Finish(op, reason);
    }

    private void GiveUp(ClientOp op)
    {
        if (!op.IsPut)
        {
            Finish(op, new OperationCanceledException());
            return;
        }
        if (!op.Move(OpPhase.Detached)) return;
        op.Error = new OutcomeUnknownException(op.Id, "It goes on.");
        Node.Complete(op);
    }

    private void Finish(ClientOp op, Exception? error)
    {
        var phase = op.Phase;
        if (!op.Move(OpPhase.Finished)) return;
        _inFlight.Remove(op);
        if (phase != OpPhase.Detached)
        {
            op.Error = error;
            // What its caller asked for.
            op.Parts[0].Version = op.KeyOf(0)[^1];
            Node.Complete(op);
        }
        op.LetGo();
    }
}
