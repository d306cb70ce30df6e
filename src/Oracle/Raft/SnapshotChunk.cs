using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

/// <summary>A part of the saved state, for a replica whose next entry was cut away; answered with <see cref="SnapshotAck"/>, the last part with <see cref="AppendReply"/>.</summary>
internal sealed record SnapshotChunk(ulong Term, ulong LastIndex, ulong LastTerm, Configuration Configuration, int Offset, int Total, ReadOnlyMemory<byte> Bytes) : IFrame
{
    public const int Kind = 0;
    public const int MaxBytes = 256 << 10;

    public FrameType Type => FrameType.Snapshot;

    public int Fields => 9;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteInt(Kind);
        writer.WriteUInt(Term);
        writer.WriteUInt(LastIndex);
        writer.WriteUInt(LastTerm);
        ConfigurationCodec.Write(ref writer, Configuration);
        writer.WriteInt(Offset);
        writer.WriteInt(Total);
        writer.WriteBinary(Bytes.Span);
    }

    public static SnapshotChunk Parse(ref MessagePackReader reader)
    {
        var chunk = new SnapshotChunk(WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader), WireFormat.ReadPlace(ref reader), ConfigurationCodec.ReadDeciding(ref reader),
            (int)reader.ReadWithin(0, Limits.SnapshotBytes), (int)reader.ReadWithin(0, Limits.SnapshotBytes), reader.ReadBinary().ToArray());
        if (chunk.Offset + (long)chunk.Bytes.Length > chunk.Total) throw new InvalidDataException("A part of a snapshot beyond its end.");
        if (chunk.LastTerm > chunk.Term) throw new InvalidDataException("A snapshot of a term after the leader's.");
        return chunk;
    }
}
