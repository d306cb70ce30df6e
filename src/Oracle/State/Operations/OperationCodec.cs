using System.Buffers;
using GroupCore.Wire.MessagePack;

namespace Oracle.State.Operations;

/// <summary>Bytes of operations, in requests and in log entries. Kind numbers are never used again for another operation.</summary>
internal static class OperationCodec
{
    /// <summary>Number of values in a request by kind: requester (2), number, floor, kind, and the operation's own values.</summary>
    private static readonly int[] KnownFields = [5, 13, 9, 9, 7, 6, 10, 8, 6, 7, 6];

    public static byte[] WriteEntry(IReadOnlyList<Request> requests)
    {
        var buffer = new ArrayBufferWriter<byte>(256);
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(requests.Count);
        foreach (var request in requests) Write(ref writer, request);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    public static List<Request> ReadEntry(ReadOnlySpan<byte> bytes)
    {
        var reader = new MessagePackReader(bytes);
        int count = WireFormat.ReadCount(ref reader, Limits.OperationsPerEntry);
        var requests = new List<Request>(count);
        for (int i = 0; i < count; i++) requests.Add(Read(ref reader));
        return requests;
    }

    public static void Write(ref MessagePackWriter writer, Request request)
    {
        int kind = request.Operation switch
        {
            Register => 1,
            Create => 2,
            Join => 3,
            Leave => 4,
            Exclude => 5,
            ViewCompletion => 6,
            Renew => 7,
            Depart => 8,
            Release => 9,
            Deny => 10,
            _ => throw new ArgumentException($"Operation {request.Operation} has no number.", nameof(request)),
        };
        writer.WriteArrayHeader(KnownFields[kind]);
        WireFormat.Write(ref writer, request.Requester);
        writer.WriteUInt(request.Number);
        writer.WriteUInt(request.Floor);
        writer.WriteInt(kind);
        WriteFields(ref writer, request.Operation);
    }

    public static Request Read(ref MessagePackReader reader)
    {
        int fields = reader.ReadArrayHeader();
        if (fields < 5) throw new InvalidDataException("A request with fewer than 5 fields.");
        var requester = WireFormat.ReadProcess(ref reader);
        (ulong number, ulong floor) = (reader.ReadUInt64(), reader.ReadUInt64());
        int kind = (int)reader.ReadWithin(1, 10);
        Operation operation = kind switch
        {
            1 => new Register(WireFormat.ReadNode(ref reader), WireFormat.ReadAddress(ref reader), WireFormat.ReadText(ref reader, Limits.TagBytes),
                WireFormat.ReadText(ref reader, Limits.NameBytes), reader.ReadInt32(), reader.ReadInt64(), OwnsAddress: reader.ReadBoolean(), Lease: reader.ReadWithin(0, Limits.LeaseLength)),
            2 => new Create(WireFormat.ReadText(ref reader, Limits.NameBytes), WireFormat.ReadOptions(ref reader),
                (int)reader.ReadWithin(0, Limits.GroupMembers), WireFormat.ReadProcesses(ref reader)),
            3 => new Join(WireFormat.ReadText(ref reader, Limits.NameBytes), WireFormat.ReadOptions(ref reader),
                (int)reader.ReadWithin(0, Limits.GroupMembers), WireFormat.ReadText(ref reader, Limits.TagBytes)),
            4 => new Leave(WireFormat.ReadGroup(ref reader)),
            5 => ReadExclude(ref reader),
            6 => new ViewCompletion(WireFormat.ReadGroup(ref reader), reader.ReadUInt64(), reader.ReadUInt64(), WireFormat.ReadProcesses(ref reader)),
            7 => new Renew(WireFormat.ReadGroup(ref reader), reader.ReadUInt64()),
            8 => new Depart(reader.ReadBoolean()),
            9 => new Release(WireFormat.ReadGroup(ref reader)),
            _ => new Deny(WireFormat.ReadText(ref reader, Limits.ReasonBytes)),
        };
        for (int known = KnownFields[kind]; known < fields; known++) reader.Skip();
        return new(requester, number, floor, operation);
    }

    private static void WriteFields(ref MessagePackWriter writer, Operation operation)
    {
        switch (operation)
        {
            case Register register:
                writer.WriteUInt(register.Node);
                WireFormat.Write(ref writer, register.Address);
                writer.WriteString(register.Tag);
                writer.WriteString(register.Host);
                writer.WriteInt(register.Number);
                writer.WriteInt(register.Start);
                writer.WriteBoolean(register.OwnsAddress);
                writer.WriteInt(register.Lease);
                break;
            case Create create:
                writer.WriteString(create.Name);
                WireFormat.Write(ref writer, create.Options);
                writer.WriteInt(create.Acceptors);
                WireFormat.Write(ref writer, create.Members);
                break;
            case Join join:
                writer.WriteString(join.Name);
                WireFormat.Write(ref writer, join.Options);
                writer.WriteInt(join.Acceptors);
                writer.WriteString(join.Tag);
                break;
            case Leave leave:
                WireFormat.Write(ref writer, leave.Group);
                break;
            case Exclude exclude:
                writer.WriteArrayHeader(exclude.Exclusions.Count * 3);
                foreach (var exclusion in exclude.Exclusions)
                {
                    WireFormat.Write(ref writer, exclusion.Process);
                    writer.WriteBoolean(exclusion.Proved);
                }
                break;
            case ViewCompletion completion:
                WireFormat.Write(ref writer, completion.Group);
                writer.WriteUInt(completion.View);
                writer.WriteUInt(completion.Proposal);
                WireFormat.Write(ref writer, completion.Initialised);
                break;
            case Renew renew:
                WireFormat.Write(ref writer, renew.Group);
                writer.WriteUInt(renew.View);
                break;
            case Depart depart:
                writer.WriteBoolean(depart.Goodbye);
                break;
            case Release release:
                WireFormat.Write(ref writer, release.Group);
                break;
            case Deny deny:
                writer.WriteString(deny.Reason);
                break;
        }
    }

    private static Exclude ReadExclude(ref MessagePackReader reader)
    {
        int count = WireFormat.ReadCount(ref reader, Limits.Processes, 3);
        var exclusions = new List<Exclusion>(count);
        for (int i = 0; i < count; i++) exclusions.Add(new(WireFormat.ReadProcess(ref reader), reader.ReadBoolean()));
        return new(exclusions);
    }
}
