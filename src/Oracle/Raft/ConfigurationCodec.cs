using GroupCore.Wire.MessagePack;

namespace Oracle.Raft;

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
        return ReadDeciding(ref reader);
    }

    public static void Write(ref MessagePackWriter writer, Configuration configuration)
    {
        WriteReplicas(ref writer, configuration.Voters);
        WriteReplicas(ref writer, configuration.Learners);
    }

    public static Configuration Read(ref MessagePackReader reader)
    {
        var configuration = new Configuration(ReadReplicas(ref reader), ReadReplicas(ref reader));
        // The sum is checked as well. Otherwise a leader that turns voters into learners, or the other way round, could write a list that no process reads.
        int replicas = configuration.Voters.Count + configuration.Learners.Count;
        if (replicas > Limits.Replicas) throw new InvalidDataException($"{replicas} replicas; at most {Limits.Replicas} are allowed.");
        var seen = new HashSet<ulong>();
        foreach (var replica in configuration.Voters.Concat(configuration.Learners))
            if (!seen.Add(replica.Node)) throw new InvalidDataException("A replica that is named twice.");
        return configuration;
    }

    /// <summary>Reads a configuration that can decide: it has voters.</summary>
    public static Configuration ReadDeciding(ref MessagePackReader reader) =>
        Read(ref reader) is { Voters.Count: > 0 } configuration ? configuration : throw new InvalidDataException("A configuration without voters.");

    private static void WriteReplicas(ref MessagePackWriter writer, IReadOnlyList<Replica> replicas)
    {
        writer.WriteArrayHeader(replicas.Count * 2);
        foreach (var replica in replicas) WireFormat.Write(ref writer, replica);
    }

    private static List<Replica> ReadReplicas(ref MessagePackReader reader)
    {
        int count = WireFormat.ReadCount(ref reader, Limits.Replicas, 2);
        var replicas = new List<Replica>(count);
        for (int i = 0; i < count; i++) replicas.Add(WireFormat.ReadReplica(ref reader));
        return replicas;
    }
}
