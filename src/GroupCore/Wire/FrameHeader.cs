using System.Buffers.Binary;

namespace GroupCore.Wire;

/// <summary>
/// The 12 bytes before every frame, little-endian: length of what follows offset 4 (u32), version and flags (u8), type (u8),
/// group slot (u16, 0 = node level), low half of the view id (u32).
/// </summary>
/// <remarks>Acknowledgements are not part of the header: they travel once per gathered write in the <see cref="FrameType.Segment"/> frame, so that the bytes of a
/// multicast are the same for every peer (links.md#a-frame-has-the-same-bytes-for-every-peer).</remarks>
internal readonly record struct FrameHeader(int Length, byte Flags, FrameType Type, ushort Slot, uint View)
{
    /// <summary>Bytes of the header.</summary>
    public const int Size = 12;

    /// <summary>Version in the high half of the flags byte.</summary>
    public const byte Version = 3 << 4;

    /// <summary>Bytes of the body.</summary>
    public int BodyLength => Length - (Size - 4);

    /// <summary>Bytes of the whole frame.</summary>
    public long FrameLength => Length + 4L;

    /// <summary>Whether version and length are acceptable where a frame may have at most <paramref name="maxFrame"/> bytes, header included.</summary>
    public bool IsWithin(int maxFrame) => (Flags & 0xF0) == Version && Length >= Size - 4 && FrameLength <= maxFrame;

    /// <summary>Writes a header for a body of <paramref name="bodyLength"/> bytes and returns the frame's whole length.</summary>
    public static int Write(Span<byte> frame, FrameType type, ushort slot, uint view, int bodyLength)
    {
        BinaryPrimitives.WriteInt32LittleEndian(frame, bodyLength + Size - 4);
        frame[4] = Version;
        frame[5] = (byte)type;
        BinaryPrimitives.WriteUInt16LittleEndian(frame[6..], slot);
        BinaryPrimitives.WriteUInt32LittleEndian(frame[8..], view);
        return bodyLength + Size;
    }

    /// <summary>Reads a header; false when fewer than <see cref="Size"/> bytes are there. The caller checks length and version.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out FrameHeader header)
    {
        if (bytes.Length < Size)
        {
            header = default;
            return false;
        }
        header = new(BinaryPrimitives.ReadInt32LittleEndian(bytes), bytes[4], (FrameType)bytes[5],
            BinaryPrimitives.ReadUInt16LittleEndian(bytes[6..]), BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]));
        return true;
    }
}
