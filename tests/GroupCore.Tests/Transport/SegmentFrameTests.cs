using System.Buffers.Binary;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>The first frame of every write, and the first one of every connection (links.md#every-write-says-where-it-belongs).</summary>
public sealed class SegmentFrameTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_is_written_is_read(bool resume)
    {
        var segment = new SegmentFrame(1L << 40, 7, resume);
        byte[] bytes = new byte[SegmentFrame.Size];
        segment.Write(bytes);
        Assert.True(FrameHeader.TryRead(bytes, out var header));
        Assert.Equal((FrameType.Segment, SegmentFrame.Size), (header.Type, (int)header.FrameLength));
        Assert.True(header.IsWithin(SegmentFrame.Size));
        Assert.True(SegmentFrame.TryRead(header, bytes.AsSpan(FrameHeader.Size), out var read));
        Assert.Equal(segment, read);
    }

    [Theory]
    [InlineData(FrameHeader.Size)]
    [InlineData(FrameHeader.Size + 8)]
    public void No_offset_of_a_stream_is_negative(int at)
    {
        byte[] bytes = new byte[SegmentFrame.Size];
        new SegmentFrame(1, 2, false).Write(bytes);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(at), -1);
        Assert.True(FrameHeader.TryRead(bytes, out var header));
        Assert.False(SegmentFrame.TryRead(header, bytes.AsSpan(FrameHeader.Size), out _));
    }

    [Fact]
    public void A_body_of_another_size_is_none()
    {
        var header = new FrameHeader(0, 0, FrameType.Segment, 0, 0);
        Assert.False(SegmentFrame.TryRead(header, new byte[15], out _));
        Assert.False(SegmentFrame.TryRead(header, new byte[17], out _));
    }
}
