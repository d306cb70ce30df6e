using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.Frames;

/// <summary>Says who the Oracle is. Without a system id, the sender does not know either; if it then names itself as leader, it is about to found a system.</summary>
internal sealed record OracleIs(Configuration Replicas, Replica Leader) : IFrame
{
    public FrameType Type => FrameType.OracleIs;

    public int Fields => 4;

    public void Write(ref MessagePackWriter writer)
    {
        ConfigurationCodec.Write(ref writer, Replicas);
        WireFormat.Write(ref writer, Leader);
    }

    public static OracleIs Parse(ref MessagePackReader reader) => new(ConfigurationCodec.Read(ref reader), WireFormat.ReadLeader(ref reader));
}
