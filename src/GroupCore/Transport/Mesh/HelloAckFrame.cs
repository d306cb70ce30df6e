using System.Buffers.Binary;
using System.Text;
using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// Answer to a <see cref="HelloFrame"/>: which node answers, whether the link is up, and from where the dialler resumes sending. <paramref name="Start"/> as there.
/// </summary>
internal readonly record struct HelloAckFrame(HelloStatus Status, byte Version, ulong NodeId, ulong Token, long Received, string Listen, ulong Start = 0)
{
    private const int Fixed = 2 + (3 * 8);

    public byte[] ToFrame()
    {
        int listen = Encoding.UTF8.GetByteCount(Listen);
        // Pinned: the socket is given the address of its bytes.
        var frame = GC.AllocateArray<byte>(FrameHeader.Size + Fixed + 1 + listen + sizeof(ulong), pinned: true);
        FrameHeader.Write(frame, FrameType.HelloAck, 0, 0, frame.Length - FrameHeader.Size);
        var body = frame.AsSpan(FrameHeader.Size);
        (body[0], body[1]) = ((byte)Status, Version);
        BinaryPrimitives.WriteUInt64LittleEndian(body[2..], NodeId);
        BinaryPrimitives.WriteUInt64LittleEndian(body[10..], Token);
        BinaryPrimitives.WriteInt64LittleEndian(body[18..], Received);
        body = HelloFrame.WriteText(body[Fixed..], Listen, listen);
        BinaryPrimitives.WriteUInt64LittleEndian(body, Start);
        return frame;
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HelloAckFrame ack)
    {
        ack = default;
        if (body.Length < Fixed) return false;
        var texts = body[Fixed..];
        if (!HelloFrame.TryReadText(ref texts, out string listen)) return false;
        ack = new((HelloStatus)body[0], body[1], BinaryPrimitives.ReadUInt64LittleEndian(body[2..]),
            BinaryPrimitives.ReadUInt64LittleEndian(body[10..]), BinaryPrimitives.ReadInt64LittleEndian(body[18..]), listen, HelloFrame.ReadStart(texts));
        return ack is { NodeId: not 0, Received: >= 0 };
    }
}
