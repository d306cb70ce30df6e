using System.Buffers;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>
/// Sends frames of the Oracle by node id and address. A frame from a process to itself is encoded in the same way: it is queued
/// here and handled before the turn ends.
/// </summary>
internal sealed class FrameSender(INode node)
{
    private readonly ArrayBufferWriter<byte> _scratch = new(4_096);
    private readonly Queue<(FrameType Type, byte[] Body)> _own = new();
    private readonly List<int> _peers = [];

    /// <summary>The system of this process; none until it has found or founded one.</summary>
    public SystemId System { get; set; }

    public bool HasOwn => _own.Count > 0;

    public void Send(in Replica to, IFrame frame) => Send(to.Node, to.Address, frame);

    public void Send(ulong toNode, NodeAddress address, IFrame frame)
    {
        Encode(frame);
        if (toNode == node.Id)
        {
            _own.Enqueue((frame.Type, _scratch.WrittenSpan.ToArray()));
            return;
        }
        if (_scratch.WrittenCount + FrameHeader.Size <= LinkLimits.FrameBytes) Put(node.Links.Open(address, toNode), frame.Type);
    }

    /// <summary>Answers over the link by which a frame came; <see cref="Own"/> is this process itself. Returns the size of the frame in bytes.</summary>
    public int Reply(int peer, IFrame frame)
    {
        Encode(frame);
        if (peer == Own) _own.Enqueue((frame.Type, _scratch.WrittenSpan.ToArray()));
        else if (_scratch.WrittenCount + FrameHeader.Size <= LinkLimits.FrameBytes) Put(peer, frame.Type);
        return _scratch.WrittenCount;
    }

    /// <summary>Sends one frame to several processes; it is encoded once.</summary>
    public void Send(IReadOnlyList<Replica> to, IFrame frame)
    {
        Encode(frame);
        _peers.Clear();
        foreach (var replica in to)
        {
            if (replica.Node == node.Id) _own.Enqueue((frame.Type, _scratch.WrittenSpan.ToArray()));
            else _peers.Add(node.Links.Open(replica.Address, replica.Node));
        }
        int size = _scratch.WrittenCount + FrameHeader.Size;
        if (_peers.Count == 0 || size > LinkLimits.FrameBytes) return;
        Fill(frame.Type, size);
        node.Links.Send(global::System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_peers), size);
    }

    /// <summary>The peer number that stands for this process in <see cref="Reply"/>.</summary>
    public const int Own = -1;

    public bool TryTakeOwn(out FrameType type, out byte[] body)
    {
        bool any = _own.TryDequeue(out var item);
        (type, body) = item;
        return any;
    }

    private void Encode(IFrame frame)
    {
        _scratch.ResetWrittenCount();
        var writer = new MessagePackWriter(_scratch);
        writer.WriteArrayHeader(frame.Fields + 2);
        writer.WriteUInt(System.High);
        writer.WriteUInt(System.Low);
        frame.Write(ref writer);
        writer.Flush();
    }

    private void Put(int peer, FrameType type)
    {
        int size = _scratch.WrittenCount + FrameHeader.Size;
        Fill(type, size);
        node.Links.Send(peer, size);
    }

    private void Fill(FrameType type, int size)
    {
        var frame = node.Links.Reserve(size);
        int header = FrameHeader.Write(frame, type, 0, 0, _scratch.WrittenCount) - _scratch.WrittenCount;
        _scratch.WrittenSpan.CopyTo(frame[header..]);
    }
}
