using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

/// <summary>
/// A follower's answer. <paramref name="Ok"/>: it agrees with the leader up to <paramref name="Index"/>; otherwise it does not, and
/// <paramref name="Index"/> is the last index worth trying.
/// </summary>
internal sealed record AppendReply(ulong Term, bool Ok, ulong Index, ulong Read) : IFrame
{
    public FrameType Type => FrameType.AppendReply;

    public int Fields => 4;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Term);
        writer.WriteBoolean(Ok);
        writer.WriteUInt(Index);
        writer.WriteUInt(Read);
    }

    public static AppendReply Parse(ref MessagePackReader reader) => new(WireFormat.ReadPlace(ref reader), reader.ReadBoolean(), WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader));
}
