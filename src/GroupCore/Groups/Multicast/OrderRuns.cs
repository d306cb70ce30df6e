using System.Buffers.Binary;

namespace GroupCore.Groups.Multicast;

/// <summary>Positions of the order on the wire: runs of rank u16, count u16, first sequence number u32. Source: multicast.md#messages.</summary>
internal static class OrderRuns
{
    private const int RunBytes = 8;

    public static int SizeOf(OrderLog order, uint from, uint to)
    {
        int runs = 0;
        for (uint x = from; x != to; x++)
            if (x == from || !Follows(order, x)) runs++;
        // A run longer than its count field splits.
        return (runs + (int)((to - from) / ushort.MaxValue)) * RunBytes;
    }

    /// <summary>Writes the runs, which take at most <see cref="SizeOf"/> bytes; the rest of the room is filled with empty runs.</summary>
    public static void Write(Span<byte> frame, OrderLog order, uint from, uint to)
    {
        int at = 0;
        uint x = from;
        while (x != to)
        {
            var (rank, seq) = order[x];
            int count = 1;
            while (++x != to && count < ushort.MaxValue && Follows(order, x)) count++;
            BinaryPrimitives.WriteUInt16LittleEndian(frame[at..], rank);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[(at + 2)..], (ushort)count);
            BinaryPrimitives.WriteUInt32LittleEndian(frame[(at + 4)..], seq);
            at += RunBytes;
        }
        frame[at..].Clear();
    }

    /// <summary>Reads runs into a list; false when they are not runs of members of a view, or more than <paramref name="max"/> positions.</summary>
    public static bool TryRead(ReadOnlySpan<byte> runs, int members, int max, List<(ushort Rank, uint Seq)> into)
    {
        if (runs.Length % RunBytes != 0) return false;
        for (int at = 0; at < runs.Length; at += RunBytes)
        {
            ushort rank = BinaryPrimitives.ReadUInt16LittleEndian(runs[at..]);
            int count = BinaryPrimitives.ReadUInt16LittleEndian(runs[(at + 2)..]);
            uint first = BinaryPrimitives.ReadUInt32LittleEndian(runs[(at + 4)..]);
            if (rank >= members || into.Count + count > max || (long)first + count - 1 > int.MaxValue) return false;
            for (int i = 0; i < count; i++) into.Add((rank, first + (uint)i));
        }
        return true;
    }

    private static bool Follows(OrderLog order, uint x)
    {
        var (beforeRank, beforeSeq) = order[x - 1];
        var (rank, seq) = order[x];
        return rank == beforeRank && seq == beforeSeq + 1;
    }
}
