using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.Frames;

/// <summary>
/// Groups that are over, and the current replicas. The views and proposals that the asker lacks come before it, in frames of their own;
/// <paramref name="More"/> says that there was no room for all of them.
/// </summary>
internal sealed record SyncAnswer(Configuration Replicas, Replica Leader, IReadOnlyList<GroupId> Over, string Reason, bool More = false) : IFrame
{
    public const int Kind = 1;

    public FrameType Type => FrameType.Sync;

    public int Fields => 8;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteInt(Kind);
        ConfigurationCodec.Write(ref writer, Replicas);
        WireFormat.Write(ref writer, Leader);
        writer.WriteArrayHeader(Over.Count * 2);
        foreach (var group in Over) WireFormat.Write(ref writer, group);
        writer.WriteString(Reason);
        writer.WriteBoolean(More);
    }

    public static SyncAnswer Parse(ref MessagePackReader reader)
    {
        var replicas = ConfigurationCodec.Read(ref reader);
        var leader = WireFormat.ReadLeader(ref reader);
        int count = WireFormat.ReadCount(ref reader, SyncAsk.MaxGroups, 2);
        var over = new List<GroupId>(count);
        for (int i = 0; i < count; i++) over.Add(WireFormat.ReadGroup(ref reader));
        return new(replicas, leader, over, WireFormat.ReadText(ref reader, Limits.ReasonBytes), reader.ReadBoolean());
    }
}
