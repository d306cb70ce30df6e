using System.Buffers.Binary;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Shared;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>Well-formed frames of a group that no honest member sends, in place of true ones. Damage of single fields hardly ever makes them.</summary>
internal static class GroupLies
{
    private const int DataHead = 8;
    private const int MostParts = 65_535;

    /// <summary>A lie of the type of the true frame; null where there is none.</summary>
    public static byte[]? Draw(FrameType type, byte[] body, Prng random) => type switch
    {
        FrameType.Data when body.Length > DataHead => random.Next(2) == 0 ? EmptyParts(body, random) : FurtherDeps(body, random),
        FrameType.CutPart => DeclarationLies.Draw(body, random),
        FrameType.Report when body.Length > 12 => random.Next(2) == 0 ? LateBase(body, random) : MoreReceived(body, random),
        _ => null,
    };

    /// <summary>Very many messages, each of two parts without a byte.</summary>
    private static byte[] EmptyParts(byte[] body, Prng random)
    {
        int count = 2 + random.Next(MostParts - 1), at = DataHead;
        var lie = new byte[DataHead + (8 * count)];
        body.AsSpan(0, DataHead).CopyTo(lie);
        BinaryPrimitives.WriteUInt16LittleEndian(lie.AsSpan(2), (ushort)count);
        for (int i = 0; i < count; i++) at += MessageRecord.Write(lie.AsSpan(at), i % 2 == 0 ? MessageKind.First : MessageKind.Last, 1, 0, []);
        return lie;
    }

    /// <summary>Ordered messages whose deps count more positions than there are.</summary>
    private static byte[] FurtherDeps(byte[] body, Prng random)
    {
        byte[] lie = [.. body];
        for (var records = lie.AsSpan(DataHead); MessageRecord.TryRead(records, out var kind, out uint dep, out int length); records = records[length..])
            if (MessageRecord.HeadOf(kind) == 12) BinaryPrimitives.WriteUInt32LittleEndian(records[8..], dep + (uint)(random.Next(4) == 0 ? random.Next(int.MaxValue) : random.Next(100)));
        return lie;
    }

    /// <summary>A report whose order begins late, with one more position that nobody gave, or ends early.</summary>
    private static byte[]? LateBase(byte[] body, Prng random)
    {
        if (FlushReport.Read(body, BinaryPrimitives.ReadUInt16LittleEndian(body.AsSpan(11))) is not { } truth) return null;
        int skip = random.Next(truth.Order.Count + 1), take = random.Next(truth.Order.Count - skip + 1);
        bool late = random.Next(2) == 0;
        var lie = new FlushReport(truth.Proposal, truth.Rank, truth.Initialised, truth.Received.Length) { Parts = truth.Parts, OrderBase = truth.OrderBase + (late ? (uint)skip : 0) };
        truth.Received.CopyTo(lie.Received, 0);
        truth.Closed.CopyTo(lie.Closed, 0);
        lie.Order.AddRange(late ? truth.Order.Skip(skip) : truth.Order.Take(take));
        if (late) lie.Order.Add(((ushort)truth.Rank, (uint)random.Next(100)));
        lie.OrderClosed = Math.Clamp(truth.OrderClosed, lie.OrderBase, lie.OrderLength);
        var bytes = new byte[lie.Size];
        lie.Write(bytes);
        return bytes;
    }

    /// <summary>A report of more, or of fewer, messages of a member than the reporter has.</summary>
    private static byte[]? MoreReceived(byte[] body, Prng random)
    {
        int members = BinaryPrimitives.ReadUInt16LittleEndian(body.AsSpan(11));
        if (FlushReport.Read(body, members) is not { } lie) return null;
        int s = random.Next(members);
        uint received = lie.Received[s] + 1;
        if (random.Next(4) == 0) received = (uint)random.Next((int)received);
        (lie.Received[s], lie.Closed[s]) = (received, random.Next(2) == 0 ? received : Math.Min(received, lie.Closed[s]));
        var bytes = new byte[lie.Size];
        lie.Write(bytes);
        return bytes;
    }
}
