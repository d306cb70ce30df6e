using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.State.Operations;

namespace Oracle.Raft;

/// <summary>Entries after (PrevIndex, PrevTerm), or none as a heartbeat. <paramref name="Read"/> is the number of the current read round (read-index).</summary>
internal sealed record AppendRequest(ulong Term, ulong PrevIndex, ulong PrevTerm, IReadOnlyList<LogEntry> Entries, ulong Commit, ulong Read) : IFrame
{
    public const int MaxEntries = 512;

    public FrameType Type => FrameType.Append;

    public int Fields => 6;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteUInt(Term);
        writer.WriteUInt(PrevIndex);
        writer.WriteUInt(PrevTerm);
        writer.WriteUInt(Commit);
        writer.WriteUInt(Read);
        writer.WriteArrayHeader(Entries.Count * 3);
        foreach (var entry in Entries)
        {
            writer.WriteUInt(entry.Term);
            writer.WriteInt((int)entry.Kind);
            writer.WriteBinary(entry.Content);
        }
    }

    public static AppendRequest Parse(ref MessagePackReader reader)
    {
        (ulong term, ulong prevIndex, ulong prevTerm) = (WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader));
        (ulong commit, ulong read) = (WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader));
        int count = WireFormat.ReadCount(ref reader, MaxEntries, 3);
        var entries = new List<LogEntry>(count);
        for (int i = 0; i < count; i++)
        {
            var entry = new LogEntry(WireFormat.ReadPlace(ref reader), WireFormat.ReadEnum<EntryKind>(ref reader, 3), reader.ReadBinary().ToArray());
            // An unreadable entry must not enter the log: once it is committed, the node has to end, or its state would diverge.
            if (entry.Kind == EntryKind.Configuration) ConfigurationCodec.Read(entry.Content);
            else if (entry.Kind == EntryKind.Operations) OperationCodec.ReadEntry(entry.Content);
            else if (entry.Content.Length > 0) throw new InvalidDataException("An entry of this kind has no content.");
            // With such an entry this log would be ahead of all others for ever.
            if (entry.Term > term) throw new InvalidDataException("An entry's term is after the leader's.");
            entries.Add(entry);
        }
        return new(term, prevIndex, prevTerm, entries, commit, read);
    }
}
