using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>A liveness probe or its answer.</summary>
internal sealed record ProbeFrame(bool Answer, ulong Number) : IFrame
{
    public FrameType Type => Answer ? FrameType.Pong : FrameType.Ping;

    public int Fields => 1;

    public void Write(ref MessagePackWriter writer) => writer.WriteUInt(Number);

    public static ProbeFrame Parse(bool answer, ref MessagePackReader reader) => new(answer, reader.ReadUInt64());
}
