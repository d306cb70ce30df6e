using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>
/// Sends numbered frames of mixed sizes to one peer as fast as a bound on the backlog allows, and checks those that come back the other way:
/// each once, in order, whole. Runs on the loop; allocates nothing per frame.
/// </summary>
internal sealed class NumberedStream(INode node, uint frames, long backlog, Func<uint, int> sizeOf) : IFrameHandler, ILinkObserver, ITimerTarget
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private uint _sent;
    private uint _got;
    private bool _filling;

    public Task Done => _done.Task;

    public string? Wrong { get; private set; }

    public uint Got => Volatile.Read(ref _got);

    public int Resets { get; private set; }

    public int Peer { get; private set; } = -1;

    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (header.View != _got) Wrong ??= $"frame {header.View} came when {_got} was due";
        else if (body.Length != sizeOf(_got) || body.ContainsAnyExcept((byte)_got)) Wrong ??= $"frame {_got} is not what was sent";
        Volatile.Write(ref _got, _got + 1);
        if (Wrong is not null || _got == frames) _done.TrySetResult();
    }

    public void OnLinkUp(int peer)
    {
        Peer = peer;
        if (!_filling) OnTimer(0);
        _filling = true;
    }

    public void OnLinkFault(int peer, LinkFault fault)
    {
        if (fault == LinkFault.Reset) Resets++;
        if (fault is LinkFault.Overflow or LinkFault.Rejected or LinkFault.Replaced)
        {
            Wrong ??= $"link ended: {fault}";
            _done.TrySetResult();
        }
    }

    public void OnTimer(long token)
    {
        while (_sent < frames && node.Links.Backlog(Peer) < backlog) TestNode.Write(node, [Peer], _sent, sizeOf(_sent++));
        if (_sent < frames) node.SetTimer(node.Now + 200_000, this, 0);
    }
}
