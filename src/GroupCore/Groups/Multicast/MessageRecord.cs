using System.Buffers.Binary;
using GroupCore.Groups.Calls;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// A message, or a part of one, as it travels and as it is stored: payload length and kind in one u32 (kind in the high byte), handler u32, for the
/// last part of an ordered message the number of order positions that its sender had delivered (dep u32), payload. 8 or 12 bytes of head.
/// </summary>
internal static class MessageRecord
{
    public static int HeadOf(MessageKind kind) => (kind & (MessageKind.Ordered | MessageKind.Last)) == (MessageKind.Ordered | MessageKind.Last) ? 12 : 8;

    public static int Write(Span<byte> to, MessageKind kind, uint handler, uint dep, ReadOnlySpan<byte> payload)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, (uint)payload.Length | ((uint)kind << 24));
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], handler);
        int head = HeadOf(kind);
        if (head == 12) BinaryPrimitives.WriteUInt32LittleEndian(to[8..], dep);
        payload.CopyTo(to[head..]);
        return head + payload.Length;
    }

    /// <summary>Reads the record at the start of <paramref name="from"/>; false when it is malformed, or a part that is neither full nor the last.</summary>
    public static bool TryRead(ReadOnlySpan<byte> from, out MessageKind kind, out uint dep, out int length)
    {
        kind = default;
        dep = 0;
        length = 0;
        if (from.Length < 8) return false;
        uint word = BinaryPrimitives.ReadUInt32LittleEndian(from);
        kind = (MessageKind)(word >> 24);
        int payload = (int)(word & 0xFFFFFF), head = HeadOf(kind);
        if ((kind & ~MessageKind.Known) != MessageKind.None || payload > GroupLimits.FragmentBytes || from.Length - head < payload) return false;
        // A sender fills every part but the last. If smaller parts were taken, one frame could begin very many messages, and each takes a slab in which it is put together.
        if ((kind & MessageKind.Last) == MessageKind.None && payload != GroupLimits.FragmentBytes) return false;
        if (head == 12) dep = BinaryPrimitives.ReadUInt32LittleEndian(from[8..]);
        length = head + payload;
        return true;
    }

    public static uint HandlerAt(ReadOnlySpan<byte> record) => BinaryPrimitives.ReadUInt32LittleEndian(record[4..]);
}
