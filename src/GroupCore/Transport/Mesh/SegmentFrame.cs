using System.Buffers.Binary;
using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// The first frame of every gathered write: where in the sender's stream the following bytes belong, and how much of the reverse
/// stream was received. Stream offsets count the bytes of all frames except those of the link itself (Hello, HelloAck, Segment).
/// </summary>
internal readonly record struct SegmentFrame(long Offset, long Received, bool Resume)
{
    private const int BodySize = 16;
    private const byte ResumeFlag = 1;

    public const int Size = FrameHeader.Size + BodySize;

    public void Write(Span<byte> to)
    {
        FrameHeader.Write(to, FrameType.Segment, 0, 0, BodySize);
        if (Resume) to[4] |= ResumeFlag;
        BinaryPrimitives.WriteInt64LittleEndian(to[FrameHeader.Size..], Offset);
        BinaryPrimitives.WriteInt64LittleEndian(to[(FrameHeader.Size + 8)..], Received);
    }

    public static bool TryRead(in FrameHeader header, ReadOnlySpan<byte> body, out SegmentFrame segment)
    {
        segment = default;
        if (body.Length != BodySize) return false;
        segment = new(BinaryPrimitives.ReadInt64LittleEndian(body), BinaryPrimitives.ReadInt64LittleEndian(body[8..]), (header.Flags & ResumeFlag) != 0);
        return segment.Offset >= 0 && segment.Received >= 0;
    }
}
