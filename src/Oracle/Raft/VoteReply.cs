using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

/// <summary>A vote or its refusal. <paramref name="Term"/> is the voter's term; for a granted pre-vote, the term asked about.</summary>
internal sealed record VoteReply(bool Pre, ulong Term, bool Granted) : IFrame
{
    public FrameType Type => Pre ? FrameType.PreVoteReply : FrameType.VoteReply;

    public int Fields => 2;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Term);
        writer.WriteBoolean(Granted);
    }

    public static VoteReply Read(bool pre, ref MessagePackReader reader) => new(pre, WireFormat.ReadPlace(ref reader), reader.ReadBoolean());
}
