using GroupCore.Diagnostics;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// A node some of whose completions take virtual time, as user code on other threads does: saving a checkpoint, for example. Some timers
/// may fire late, as they do behind much other work. A given callback is told what is posted.
/// </summary>
internal sealed class DelayingNode(Simulation simulation, INode inner, Func<ICompletion, TimeSpan> delay, Func<ITimerTarget, TimeSpan>? late = null, Action<NodeCommand>? posts = null) : INode
{
    public ulong Id => inner.Id;

    public long Now => inner.Now;

    public Prng Random => inner.Random;

    public ILinks Links => inner.Links;

    public NodeCounters Counters => inner.Counters;

    string? INode.Without => inner.Without;

    NodeLog INode.Log
    {
        get => inner.Log;
        set => inner.Log = value;
    }

    long INode.Clock() => inner.Clock();

    void INode.KeepTurns() => inner.KeepTurns();

    void INode.LendTurns() => inner.LendTurns();

    void INode.Fail(Exception error) => inner.Fail(error);

    void INode.AtStop(IStopListener listener) => inner.AtStop(listener);

    public TimerHandle SetTimer(long due, ITimerTarget target, long token) => 
        inner.SetTimer(due + (long)(late?.Invoke(target) ?? default).TotalNanoseconds, target, token);

    public void CancelTimer(TimerHandle handle) => inner.CancelTimer(handle);

    public void Route(FrameType first, FrameType last, IFrameHandler handler) => inner.Route(first, last, handler);

    public void Observe(ILinkObserver observer) => inner.Observe(observer);

    public void AtEndOfTurn(ITurnParticipant participant) => inner.AtEndOfTurn(participant);

    public void Complete(ICompletion work)
    {
        var time = delay(work);
        if (time > TimeSpan.Zero) simulation.After(time, work.Run);
        else inner.Complete(work);
    }

    public void Resume(ICompletion work) => inner.Resume(work);

    public bool TryPost(NodeCommand command)
    {
        posts?.Invoke(command);
        return inner.TryPost(command);
    }

    public ValueTask PostAsync(NodeCommand command, CancellationToken cancellationToken)
    {
        posts?.Invoke(command);
        return inner.PostAsync(command, cancellationToken);
    }
}
