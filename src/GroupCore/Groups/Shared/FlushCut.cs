using System.Buffers.Binary;

namespace GroupCore.Groups.Shared;

/// <summary>
/// What all survivors deliver of the view that ends: the messages of each sender up to a number, and which member holds them; the order prefix (with
/// the records that some lack); and which contributions belong to it. Source: views-and-flush.md#the-cut-is-closed, #the-longest-order-wins.
/// </summary>
internal sealed class FlushCut(ulong proposal, int members)
{
    private const int Head = 8 + 2;
    private const int PartBytes = 3;

    public ulong Proposal { get; } = proposal;

    public uint[] Upto { get; } = new uint[members];

    public ushort[] Holder { get; } = new ushort[members];

    /// <summary>Position of the first record in <see cref="Records"/>; every member knows those before it.</summary>
    public uint OrderFrom { get; set; }

    public uint OrderLength { get; set; }

    public List<(ushort Rank, uint Seq)> Records { get; } = [];

    /// <summary>The contributions of layers, ascending by rank and part.</summary>
    public List<(ushort Rank, byte Part)> Parts { get; } = [];

    public int Size => Head + (6 * Upto.Length) + 8 + 4 + (6 * Records.Count) + 2 + (PartBytes * Parts.Count);

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to, Proposal);
        BinaryPrimitives.WriteUInt16LittleEndian(to[8..], (ushort)Upto.Length);
        int at = Head;
        for (int s = 0; s < Upto.Length; s++, at += 6)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(to[at..], Upto[s]);
            BinaryPrimitives.WriteUInt16LittleEndian(to[(at + 4)..], Holder[s]);
        }
        BinaryPrimitives.WriteUInt32LittleEndian(to[at..], OrderFrom);
        BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 4)..], OrderLength);
        BinaryPrimitives.WriteInt32LittleEndian(to[(at + 8)..], Records.Count);
        at += 12;
        foreach (var (rank, seq) in Records)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(to[at..], rank);
            BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 2)..], seq);
            at += 6;
        }
        BinaryPrimitives.WriteUInt16LittleEndian(to[at..], (ushort)Parts.Count);
        at += 2;
        foreach (var (rank, part) in Parts)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(to[at..], rank);
            to[at + 2] = part;
            at += PartBytes;
        }
    }

    /// <summary>Reads a cut of a view of <paramref name="members"/> members; null when the bytes are not one.</summary>
    public static FlushCut? Read(ReadOnlySpan<byte> from, int members)
    {
        if (from.Length < Head + (6 * members) + 14 || BinaryPrimitives.ReadUInt16LittleEndian(from[8..]) != members) return null;
        var cut = new FlushCut(BinaryPrimitives.ReadUInt64LittleEndian(from), members);
        int at = Head;
        for (int s = 0; s < members; s++, at += 6)
        {
            cut.Upto[s] = BinaryPrimitives.ReadUInt32LittleEndian(from[at..]);
            cut.Holder[s] = BinaryPrimitives.ReadUInt16LittleEndian(from[(at + 4)..]);
            if (cut.Holder[s] >= members || cut.Upto[s] > int.MaxValue) return null;
        }
        cut.OrderFrom = BinaryPrimitives.ReadUInt32LittleEndian(from[at..]);
        cut.OrderLength = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 4)..]);
        int records = BinaryPrimitives.ReadInt32LittleEndian(from[(at + 8)..]);
        at += 12;
        if (records < 0 || records > (from.Length - at - 2) / 6 || cut.OrderLength > int.MaxValue || cut.OrderLength < cut.OrderFrom || cut.OrderLength - cut.OrderFrom != (uint)records) return null;
        for (; records > 0; records--, at += 6)
        {
            ushort rank = BinaryPrimitives.ReadUInt16LittleEndian(from[at..]);
            uint seq = BinaryPrimitives.ReadUInt32LittleEndian(from[(at + 2)..]);
            if (rank >= members || seq > int.MaxValue) return null;
            cut.Records.Add((rank, seq));
        }
        int parts = BinaryPrimitives.ReadUInt16LittleEndian(from[at..]);
        at += 2;
        if (from.Length - at != PartBytes * parts || parts > GroupLimits.Layers * members) return null;
        for (int before = -1; parts > 0; parts--, at += PartBytes)
        {
            ushort rank = BinaryPrimitives.ReadUInt16LittleEndian(from[at..]);
            byte part = from[at + 2];
            int place = (rank * GroupLimits.Layers) + part;
            if (rank >= members || part >= GroupLimits.Layers || place <= before) return null;
            before = place;
            cut.Parts.Add((rank, part));
        }
        return cut;
    }
}
