using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>Asks who the Oracle is, and says whether the asker is about to found a system itself.</summary>
internal sealed record WhoIsOracle(bool Founds) : IFrame
{
    public FrameType Type => FrameType.WhoIsOracle;

    public int Fields => 1;

    public void Write(ref MessagePackWriter writer) => writer.WriteBoolean(Founds);

    public static WhoIsOracle Parse(ref MessagePackReader reader) => new(reader.ReadBoolean());
}
