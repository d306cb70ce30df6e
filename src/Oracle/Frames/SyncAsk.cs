using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>What a process knows of its groups; the answer brings what it lacks.</summary>
internal sealed record SyncAsk(ProcessId Process, IReadOnlyList<Known> Groups) : IFrame
{
    public const int Kind = 0;
    public const int MaxGroups = Limits.GroupsPerProcess;

    public FrameType Type => FrameType.Sync;

    public int Fields => 4;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteInt(Kind);
        WireFormat.Write(ref writer, Process);
        writer.WriteArrayHeader(Groups.Count * 4);
        foreach (var known in Groups)
        {
            WireFormat.Write(ref writer, known.Group);
            writer.WriteUInt(known.View);
            writer.WriteUInt(known.Proposal);
        }
    }

    public static SyncAsk Parse(ref MessagePackReader reader)
    {
        var process = WireFormat.ReadProcess(ref reader);
        int count = WireFormat.ReadCount(ref reader, MaxGroups, 4);
        var groups = new List<Known>(count);
        for (int i = 0; i < count; i++) groups.Add(new(WireFormat.ReadGroup(ref reader), reader.ReadUInt64(), reader.ReadUInt64()));
        return new(process, groups);
    }
}
