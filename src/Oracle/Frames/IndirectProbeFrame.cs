using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>
/// Asks the receiver to probe a third process to which it has a link, or says that the third process answered. With a <paramref name="Number"/>, it asks that
/// the subject say this number to the sender; with <paramref name="Relayed"/>, that the receiver say it to the subject.
/// </summary>
internal sealed record IndirectProbeFrame(bool Answer, ulong Subject, ulong Number = 0, bool Relayed = false) : IFrame
{
    public FrameType Type => Answer ? FrameType.IndirectPong : FrameType.IndirectPing;

    public int Fields => 3;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Subject);
        writer.WriteUInt(Number);
        writer.WriteBoolean(Relayed);
    }

    public static IndirectProbeFrame Parse(bool answer, ref MessagePackReader reader) => new(answer, reader.ReadUInt64(), reader.ReadUInt64(), reader.ReadBoolean());
}
