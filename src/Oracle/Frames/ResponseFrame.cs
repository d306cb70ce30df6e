using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.State;

namespace Oracle.Frames;

/// <summary>The answer to a request. A process that does not lead also answers so to anything else that only the leader handles, to say who leads.</summary>
internal sealed record ResponseFrame(ulong Number, ResponseStatus Status, OperationResult Result, Replica Leader) : IFrame
{
    public FrameType Type => FrameType.OracleResponse;

    public int Fields => 10;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Number);
        writer.WriteInt((int)Status);
        writer.WriteBoolean(Result.Ok);
        writer.WriteString(Result.Reason);
        WireFormat.Write(ref writer, Result.Process);
        WireFormat.Write(ref writer, Result.Group);
        WireFormat.Write(ref writer, Leader);
    }

    public static ResponseFrame Parse(ref MessagePackReader reader) => new(reader.ReadUInt64(), WireFormat.ReadEnum<ResponseStatus>(ref reader, 2),
        new(reader.ReadBoolean(), WireFormat.ReadText(ref reader, Limits.ReasonBytes), WireFormat.ReadProcess(ref reader), WireFormat.ReadGroup(ref reader)),
        WireFormat.ReadLeader(ref reader));
}
