using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.Frames;

/// <summary>Says who the Oracle is. Without a system id, the sender does not know either; if it then names itself as leader, it is about to found a system.</summary>
/// <param name="Replicas">The voters and learners.</param>
/// <param name="Leader">The leader, if it is known.</param>
/// <param name="IsSettled">Whether the sender did not found the system itself a moment ago.</param>
internal sealed record OracleIs(Configuration Replicas, Replica Leader, bool IsSettled = false) : IFrame
{
    public FrameType Type => FrameType.OracleIs;

    public int Fields => 5;

    public void Write(ref MessagePackWriter writer)
    {
        ConfigurationCodec.Write(ref writer, Replicas);
        WireFormat.Write(ref writer, Leader);
        writer.WriteBoolean(IsSettled);
    }

    public static OracleIs Parse(ref MessagePackReader reader) => new(ConfigurationCodec.Read(ref reader), WireFormat.ReadLeader(ref reader), reader.ReadBoolean());
}
