using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.State.Operations;

namespace Oracle.Frames;

/// <summary>A request to the Oracle.</summary>
internal sealed record RequestFrame(Request Request) : IFrame
{
    public FrameType Type => FrameType.OracleRequest;

    public int Fields => 1;

    public void Write(ref MessagePackWriter writer) => OperationCodec.Write(ref writer, Request);

    public static RequestFrame Parse(ref MessagePackReader reader) => new(OperationCodec.Read(ref reader));
}
