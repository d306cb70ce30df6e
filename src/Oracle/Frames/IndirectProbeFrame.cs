using GroupCore.Wire;
using Oracle.Log;

namespace Oracle.Frames;

/// <summary>Asks the receiver to probe a third process, or tells that the third process answered.</summary>
internal sealed record IndirectProbeFrame(bool Answer, Replica Subject) : IFrame
{
    public FrameType Type => Answer ? FrameType.IndirectPong : FrameType.IndirectPing;

    public int Fields => 2;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Subject.Node);
        writer.WriteString(Subject.Address.Text);
    }

    public static IndirectProbeFrame Parse(bool answer, ref MessagePackReader reader) => new(answer, new(reader.ReadUInt64(), WireFormat.ReadAddress(ref reader)));
}
