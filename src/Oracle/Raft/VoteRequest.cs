using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

/// <summary>Asks for a vote; with <paramref name="Pre"/>, asks whether one would be given. <paramref name="Transfer"/>: the leader itself asked for this election.</summary>
internal sealed record VoteRequest(bool Pre, ulong Term, ulong LastIndex, ulong LastTerm, bool Transfer) : IFrame
{
    public FrameType Type => Pre ? FrameType.PreVote : FrameType.Vote;

    public int Fields => 4;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Term);
        writer.WriteUInt(LastIndex);
        writer.WriteUInt(LastTerm);
        writer.WriteBoolean(Transfer);
    }

    public static VoteRequest Read(bool pre, ref MessagePackReader reader) =>
        new(pre, WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader), reader.ReadBoolean());
}
