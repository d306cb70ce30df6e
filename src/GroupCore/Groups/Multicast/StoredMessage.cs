using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;

namespace GroupCore.Groups.Multicast;

/// <summary>Where a message's record lies, and what the protocol needs to know of it.</summary>
internal struct StoredMessage
{
    public MessageSlab Slab;
    public int Offset;
    public int Length;
    public uint Dep;
    public MessageKind Kind;

    public readonly ReadOnlySpan<byte> Record => Slab.Bytes.AsSpan(Offset, Length);

    public readonly int Head => MessageRecord.HeadOf(Kind);

    /// <summary>Whether this record has a place in the total order.</summary>
    public readonly bool TakesPosition => Head == 12;
}
