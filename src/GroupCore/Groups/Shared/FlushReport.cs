using System.Buffers.Binary;

namespace GroupCore.Groups.Shared;

/// <summary>
/// What one member has received in the view that ends. What is closed at one member is closed in the union, so only messages that are
/// received and not closed can be in doubt. A point marks where the <c>dep</c> of such messages rises.
/// </summary>
internal sealed class FlushReport(ulong proposal, int rank, bool initialised, int members)
{
    private const int Head = 8 + 2 + 1 + 2;

    public ulong Proposal { get; } = proposal;

    public int Rank { get; } = rank;

    public bool Initialised { get; } = initialised;

    /// <summary>Number of contributions of this member's layers; they came before this report.</summary>
    public int Parts { get; set; }

    public uint[] Received { get; } = new uint[members];

    public uint[] Closed { get; } = new uint[members];

    public uint OrderBase { get; set; }

    public uint OrderClosed { get; set; }

    /// <summary>Positions from <see cref="OrderBase"/> on.</summary>
    public List<(ushort Rank, uint Seq)> Order { get; } = [];

    public uint OrderLength => OrderBase + (uint)Order.Count;

    /// <summary>The message at a position that is in the report.</summary>
    public (ushort Rank, uint Seq) PositionAt(uint position) => Order[(int)(position - OrderBase)];

    /// <summary>Points: from message <c>Seq</c> of <c>Sender</c> on, a message is closed only once <c>Dep</c> positions are.</summary>
    public List<(ushort Sender, uint Seq, uint Dep)> Points { get; } = [];

    public void AddPoint(int sender, uint seq, uint dep)
    {
        // Too many points are made coarser: the last point of the sender then asks for more than its first messages need. So the cut may leave out
        // messages that are closed in the union, but at no survivor: no survivor has delivered or acknowledged them, and their sender, at which
        // they would be closed, is gone. The cut never keeps a message that is not closed.
        if (Points.Count >= GroupLimits.ReportPoints && Points[^1].Sender == sender) Points[^1] = Points[^1] with { Dep = dep };
        else if (Points.Count < GroupLimits.ReportPoints + members) Points.Add(((ushort)sender, seq, dep));
    }

    // Points ascend by sender, and for each sender by both numbers, as a member writes them.
    private bool Ascends(int sender, uint seq, uint dep) =>
        Points.Count == 0 || Points[^1] is var last && (sender > last.Sender || (sender == last.Sender && seq > last.Seq && dep > last.Dep));

    public int Size => Head + (8 * members) + 12 + (6 * Order.Count) + 4 + (10 * Points.Count);

    /// <summary>
    /// proposal u64, rank u16, flags u8 (1 initialised, and twice the number of parts), members u16, received and closed u32 each, order base, closed and count u32,
    /// positions (rank u16, seq u32), points.
    /// </summary>
    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to, Proposal);
        BinaryPrimitives.WriteUInt16LittleEndian(to[8..], (ushort)Rank);
        to[10] = (byte)((Initialised ? 1 : 0) | (Parts << 1));
        BinaryPrimitives.WriteUInt16LittleEndian(to[11..], (ushort)Received.Length);
        int at = Head;
        for (int s = 0; s < Received.Length; s++, at += 8)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(to[at..], Received[s]);
            BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 4)..], Closed[s]);
        }
        BinaryPrimitives.WriteUInt32LittleEndian(to[at..], OrderBase);
        BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 4)..], OrderClosed);
        BinaryPrimitives.WriteInt32LittleEndian(to[(at + 8)..], Order.Count);
        at += 12;
        foreach (var (rank, seq) in Order)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(to[at..], rank);
            BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 2)..], seq);
            at += 6;
        }
        BinaryPrimitives.WriteInt32LittleEndian(to[at..], Points.Count);
        at += 4;
        foreach (var (sender, seq, dep) in Points)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(to[at..], sender);
            BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 2)..], seq);
            BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 6)..], dep);
            at += 10;
        }
    }

    /// <summary>Reads a report of a view of <paramref name="members"/> members; null when the bytes are not one.</summary>
    public static FlushReport? Read(ReadOnlySpan<byte> from, int members)
    {
        if (from.Length < Head + (8 * members) + 16) return null;
        int rank = BinaryPrimitives.ReadUInt16LittleEndian(from[8..]);
        if (rank >= members || from[10] >> 1 > GroupLimits.Layers || BinaryPrimitives.ReadUInt16LittleEndian(from[11..]) != members) return null;
        var report = new FlushReport(BinaryPrimitives.ReadUInt64LittleEndian(from), rank, (from[10] & 1) != 0, members) { Parts = from[10] >> 1 };
        int at = Head;
        for (int s = 0; s < members; s++, at += 8)
        {
            report.Received[s] = BinaryPrimitives.ReadUInt32LittleEndian(from[at..]);
            report.Closed[s] = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 4)..]);
            if (report.Closed[s] > report.Received[s] || report.Received[s] > int.MaxValue) return null;
        }
        report.OrderBase = BinaryPrimitives.ReadUInt32LittleEndian(from[at..]);
        report.OrderClosed = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 4)..]);
        int positions = BinaryPrimitives.ReadInt32LittleEndian(from[(at + 8)..]);
        at += 12;
        if (report.OrderBase > int.MaxValue || positions < 0 || positions > (from.Length - at - 4) / 6) return null;
        for (; positions > 0; positions--, at += 6)
        {
            ushort sender = BinaryPrimitives.ReadUInt16LittleEndian(from[at..]);
            uint seq = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 2)..]);
            if (sender >= members || seq > int.MaxValue) return null;
            report.Order.Add((sender, seq));
        }
        if (report.OrderClosed < report.OrderBase || report.OrderClosed > report.OrderLength) return null;
        int points = BinaryPrimitives.ReadInt32LittleEndian(from[at..]);
        at += 4;
        if (points < 0 || points > GroupLimits.ReportPoints + members || points != (from.Length - at) / 10 || (from.Length - at) % 10 != 0) return null;
        for (; points > 0; points--, at += 10)
        {
            ushort sender = BinaryPrimitives.ReadUInt16LittleEndian(from[at..]);
            uint seq = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 2)..]), dep = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 6)..]);
            if (sender >= members || !report.Ascends(sender, seq, dep)) return null;
            report.Points.Add((sender, seq, dep));
        }
        return report;
    }
}
