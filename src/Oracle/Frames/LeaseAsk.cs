using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>
/// Asks for a lease. <paramref name="Sent"/>, the time on the asker's clock, comes back with the lease; <paramref name="Version"/> is that of the process table the asker
/// knows.
/// </summary>
internal sealed record LeaseAsk(ProcessId Process, long Sent, ulong Version) : IFrame
{
    public const int Kind = 0;

    public FrameType Type => FrameType.Lease;

    public int Fields => 5;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteInt(Kind);
        WireFormat.Write(ref writer, Process);
        writer.WriteInt(Sent);
        writer.WriteUInt(Version);
    }

    public static LeaseAsk Parse(ref MessagePackReader reader) => new(WireFormat.ReadProcess(ref reader), reader.ReadInt64(), reader.ReadUInt64());
}
