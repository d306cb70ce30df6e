using GroupCore.Transport;
using GroupCore.Wire;
using Oracle.Log;
using Oracle.State;

namespace Oracle.Frames;

/// <summary>Bytes of a configuration.</summary>
internal static class ConfigurationCodec
{
    public static byte[] Write(Configuration configuration)
    {
        var buffer = new System.Buffers.ArrayBufferWriter<byte>(256);
        var writer = new MessagePackWriter(buffer);
        Write(ref writer, configuration);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    public static Configuration Read(ReadOnlySpan<byte> bytes)
    {
        var reader = new MessagePackReader(bytes);
        return Read(ref reader);
    }

    public static void Write(ref MessagePackWriter writer, Configuration configuration)
    {
        WriteReplicas(ref writer, configuration.Voters);
        WriteReplicas(ref writer, configuration.Learners);
    }

    public static Configuration Read(ref MessagePackReader reader) => new(ReadReplicas(ref reader), ReadReplicas(ref reader));

    public static void WriteReplicas(ref MessagePackWriter writer, IReadOnlyList<Replica> replicas)
    {
        writer.WriteArrayHeader(replicas.Count * 2);
        foreach (var replica in replicas)
        {
            writer.WriteUInt(replica.Node);
            writer.WriteString(replica.Address.Text);
        }
    }

    public static List<Replica> ReadReplicas(ref MessagePackReader reader)
    {
        int count = WireFormat.ReadCount(ref reader, Limits.Replicas, 2);
        var replicas = new List<Replica>(count);
        for (int i = 0; i < count; i++) replicas.Add(new(reader.ReadUInt64(), new NodeAddress(WireFormat.ReadText(ref reader, Limits.AddressBytes))));
        return replicas;
    }
}
