using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>A session whose frames carry consecutive numbers, and a check that they arrive in that order.</summary>
internal sealed class SessionEnd : ILinkSink
{
    private readonly SendBuffer _buffer;
    private uint _next;

    public SessionEnd(LinkCarrier carrier, long queueBytes = LinkLimits.QueueBytes)
    {
        Pool = new();
        _buffer = new(Pool);
        Session = new(1, Pool, carrier, queueBytes);
    }

    public SlabPool Pool { get; }

    public LinkSession Session { get; }

    public uint Sent { get; private set; }

    public uint Got { get; private set; }

    public string? Wrong { get; private set; }

    /// <summary>Sends a frame of <paramref name="body"/> bytes that are all derived from its number; half of the frames go as of a multicast.</summary>
    public void Send(int body, bool shared)
    {
        int size = FrameHeader.Size + body;
        var frame = _buffer.Reserve(size);
        FrameHeader.Write(frame, FrameType.Data, 1, Sent, body);
        frame[FrameHeader.Size..].Fill((byte)(Sent * 7));
        Sent++;
        _buffer.Seal(size);
        if (shared)
        {
            _buffer.AppendShared(Session, size);
            _buffer.Commit(size);
        }
        else
        {
            _buffer.AppendOnly(Session, size);
        }
    }

    /// <summary>Fills the slab in which frames are encoded, as frames for others would.</summary>
    public void Fill()
    {
        _buffer.Reserve(SlabPool.SmallBytes);
        _buffer.Commit(SlabPool.SmallBytes);
    }

    public void OnFrame(LinkSession session, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (header.View != _next || body.ContainsAnyExcept((byte)(_next * 7))) Wrong ??= $"expected frame {_next}, got {header.View} with {body.Length} bytes";
        _next++;
        Got++;
    }
}
