using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

/// <summary>The number of bytes that the sender holds of the saved state up to <paramref name="LastIndex"/>.</summary>
internal sealed record SnapshotAck(ulong Term, ulong LastIndex, int Held) : IFrame
{
    public const int Kind = 1;

    public FrameType Type => FrameType.Snapshot;

    public int Fields => 4;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteInt(Kind);
        writer.WriteUInt(Term);
        writer.WriteUInt(LastIndex);
        writer.WriteInt(Held);
    }

    public static SnapshotAck Parse(ref MessagePackReader reader) =>
        new(WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader), (int)reader.ReadWithin(0, Limits.SnapshotBytes));
}
