using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Raft;

namespace Oracle.Frames;

/// <summary>
/// A lease, counted from the time at which the asker sent its question, and the current replicas. If the asker's process table is old, also the processes that the asker has to
/// watch.
/// </summary>
internal sealed record LeaseGrant(long Sent, Configuration Replicas, ulong Version, IReadOnlyList<Subject>? Subjects) : IFrame
{
    public const int Kind = 1;
    private const int MaxSubjects = 64;

    public FrameType Type => FrameType.Lease;

    public int Fields => 6;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteInt(Kind);
        writer.WriteInt(Sent);
        ConfigurationCodec.Write(ref writer, Replicas);
        writer.WriteUInt(Version);
        if (Subjects is null)
        {
            writer.WriteNil();
            return;
        }
        writer.WriteArrayHeader(Subjects.Count * 5);
        foreach (var subject in Subjects)
        {
            WireFormat.Write(ref writer, subject.Id);
            WireFormat.Write(ref writer, subject.Address);
            writer.WriteInt(subject.Number);
            writer.WriteInt(subject.Start);
        }
    }

    public static LeaseGrant Parse(ref MessagePackReader reader)
    {
        (long sent, var replicas, ulong version) = (reader.ReadInt64(), ConfigurationCodec.Read(ref reader), reader.ReadUInt64());
        if (reader.TryReadNil()) return new(sent, replicas, version, null);
        int count = WireFormat.ReadCount(ref reader, MaxSubjects, 5);
        var subjects = new List<Subject>(count);
        for (int i = 0; i < count; i++)
            subjects.Add(new(WireFormat.ReadProcess(ref reader), WireFormat.ReadAddress(ref reader), reader.ReadInt32(), reader.ReadInt64()));
        return new(sent, replicas, version, subjects);
    }
}
