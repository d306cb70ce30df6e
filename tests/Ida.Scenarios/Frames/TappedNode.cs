using GroupCore.Diagnostics;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A node whose frames pass by <paramref name="tap"/> first: handler, peer, header and body of each; and whose links are those of
/// <paramref name="links"/>, when it is given.
/// </summary>
internal sealed class TappedNode(INode inner, Action<INode, IFrameHandler, int, FrameHeader, byte[]>? tap, ILinks? links = null) : INode
{
    public ulong Id => inner.Id;

    public long Now => inner.Now;

    long INode.Clock() => inner.Clock();

    void INode.AtStop(IStopListener listener) => inner.AtStop(listener);

    public Prng Random => inner.Random;

    public ILinks Links => links ?? inner.Links;

    public NodeCounters Counters => inner.Counters;

    string? INode.Without => inner.Without;

    NodeLog INode.Log
    {
        get => inner.Log;
        set => inner.Log = value;
    }

    void INode.KeepTurns() => inner.KeepTurns();

    void INode.LendTurns() => inner.LendTurns();

    void INode.Fail(Exception error) => inner.Fail(error);

    public TimerHandle SetTimer(long due, ITimerTarget target, long token) => inner.SetTimer(due, target, token);

    public void CancelTimer(TimerHandle handle) => inner.CancelTimer(handle);

    public void Route(FrameType first, FrameType last, IFrameHandler handler) =>
        inner.Route(first, last, tap is null ? handler : new Tap(this, handler, tap));

    public void Observe(ILinkObserver observer) => inner.Observe(observer);

    public void AtEndOfTurn(ITurnParticipant participant) => inner.AtEndOfTurn(participant);

    public void Complete(ICompletion work) => inner.Complete(work);

    public void Resume(ICompletion work) => inner.Resume(work);

    public bool TryPost(NodeCommand command) => inner.TryPost(command);

    public ValueTask PostAsync(NodeCommand command, CancellationToken cancellationToken) => inner.PostAsync(command, cancellationToken);

    private sealed class Tap(INode node, IFrameHandler handler, Action<INode, IFrameHandler, int, FrameHeader, byte[]> tap) : IFrameHandler
    {
        public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
        {
            tap(node, handler, peer, header, body.ToArray());
            handler.OnFrame(peer, header, body);
        }
    }
}
