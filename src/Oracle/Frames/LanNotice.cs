using System.Buffers;
using GroupCore.Wire.MessagePack;

namespace Oracle.Frames;

/// <summary>A datagram by which processes on a local network find each other. It says where a process is and proves nothing: who it is shows when it is dialled.</summary>
/// <param name="Cluster">Name of the cluster.</param>
/// <param name="Asks">Whether it asks others to show themselves.</param>
/// <param name="From">The process, and where it is reached.</param>
/// <param name="System">The system to which it belongs; none if it looks for one.</param>
internal readonly record struct LanNotice(string Cluster, bool Asks, Replica From, SystemId System)
{
    /// <summary>A longer datagram is none of these.</summary>
    public const int MostBytes = 512;

    private const int Version = 1;
    private const int Fields = 7;
    private const int ClusterBytes = 255;

    public byte[] ToBytes()
    {
        var buffer = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(Fields);
        writer.WriteUInt(Version);
        writer.WriteString(Cluster);
        writer.WriteBoolean(Asks);
        WireFormat.Write(ref writer, From);
        writer.WriteUInt(System.High);
        writer.WriteUInt(System.Low);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads a notice; false when the bytes are not one. Fields behind the known ones are skipped.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out LanNotice notice)
    {
        notice = default;
        if (bytes.Length > MostBytes) return false;
        try
        {
            var reader = new MessagePackReader(bytes);
            if (reader.ReadArrayHeader() < Fields || reader.ReadUInt64() != Version) return false;
            notice = new(WireFormat.ReadText(ref reader, ClusterBytes), reader.ReadBoolean(), WireFormat.ReadReplica(ref reader), new(reader.ReadUInt64(), reader.ReadUInt64()));
            return true;
        }
        catch (InvalidDataException)
        {
            return false;
        }
    }
}
