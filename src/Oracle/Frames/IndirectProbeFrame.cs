using GroupCore.Wire;

namespace Oracle.Frames;

/// <summary>Asks the receiver to probe a third process that it has a link to, or tells that the third process answered.</summary>
internal sealed record IndirectProbeFrame(bool Answer, ulong Subject) : IFrame
{
    public FrameType Type => Answer ? FrameType.IndirectPong : FrameType.IndirectPing;

    public int Fields => 1;

    public void Write(ref MessagePackWriter writer) => writer.WriteUInt(Subject);

    public static IndirectProbeFrame Parse(bool answer, ref MessagePackReader reader) => new(answer, reader.ReadUInt64());
}
