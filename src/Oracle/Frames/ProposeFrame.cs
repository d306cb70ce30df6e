using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>A proposal, for its survivors, leavers and joiners.</summary>
internal sealed record ProposeFrame(Proposal Proposal) : IFrame
{
    public FrameType Type => FrameType.Propose;

    public int Fields => WireFormat.ProposalFields;

    public void Write(ref MessagePackWriter writer) => WireFormat.Write(ref writer, Proposal);

    public static ProposeFrame Parse(ref MessagePackReader reader) => new(WireFormat.ReadProposal(ref reader));
}
