using GroupCore.Groups.Calls;
using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>
/// Stands in for a membership, by the same rules: takes calls, sends them at once or later, ends those whose token has fired, and lets the handlers' worker complete some.
/// </summary>
internal sealed class CallTaker : ICallTaker, ITimerTarget, IStopListener
{
    private const long Later = 20_000;
    private readonly Schedule _schedule;
    private readonly List<SendOperation> _calls = [];
    private bool _looks;

    public CallTaker(INode node)
    {
        (Node, _schedule) = (node, Lane.Current!.Schedule);
        node.AtStop(this);
    }

    public INode Node { get; }

    /// <summary>Told of each call when it is taken.</summary>
    public Action<SendOperation>? Taken { get; set; }

    public void Take(SendOperation call)
    {
        Taken?.Invoke(call);
        if (TryCancel(call)) return;
        _calls.Add(call);
        if (_schedule.Draw(2) == 0) Send();
        else Node.SetTimer(Node.Now + Later, this, 0);
    }

    public void OnTimer(long token) => Send();

    public void OnStop(Exception reason)
    {
        foreach (var call in _calls) call.Abandon(reason);
    }

    /// <summary>May be called from any thread.</summary>
    public void PostCancelled()
    {
        Explored.Fence("look");
        if (_looks) return;
        _looks = true;
        Node.Post(new CallCommand(RemoveCancelled));
    }

    private void RemoveCancelled()
    {
        _looks = false;
        Explored.Fence("looks");
        _calls.RemoveAll(TryCancel);
    }

    private void Send()
    {
        foreach (var call in _calls)
        {
            // Some calls go on when a handler has run, on its worker.
            if (_schedule.Draw(2) == 0) Node.Complete(call);
            else Node.Complete(new ActionCompletion(() => call.Complete(null)));
        }
        _calls.Clear();
    }

    private bool TryCancel(SendOperation call)
    {
        if (!call.IsCancelled) return false;
        call.Error = new OperationCanceledException(call.CancelledBy);
        Node.Complete(call);
        return true;
    }
}
