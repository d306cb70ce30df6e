using GroupCore.Groups.Shared;

namespace GroupCore.Groups.Flush;

/// <summary>
/// Computes the cut from the reports of all that take part, as a pure function: of each sender the most that any member received, the longest order, and of
/// these what is closed (R4, R5). Nobody delivers messages outside of the cut, and no survivor can have delivered one.
/// </summary>
/// <remarks>
/// A sender stores a message before it sends it, and sends nothing after its report: so of a sender that takes part no member has more than the sender reports. A
/// member that reports more lies, and the sender would refuse for ever what that member forwards. What a holder forwards is taken for the sender's own, so wherever
/// possible the holder is the leader, which all believe, or the sender itself.
/// </remarks>
internal static class Closure
{
    /// <summary>
    /// Computes the cut. <paramref name="trim"/> and <paramref name="longest"/> are false only in negative controls of R4 and R5. <paramref name="own"/>
    /// is the leader's report, else the first: its order begins at what all have closed, and reaches to where any other report begins.
    /// </summary>
    public static FlushCut Cut(ulong proposal, int members, IReadOnlyList<FlushReport> reports, bool trim = true, bool longest = true, FlushReport? own = null)
    {
        var cut = new FlushCut(proposal, members);
        own ??= reports[0];
        var order = reports[0];
        uint known = uint.MaxValue, closedOrder = 0;
        foreach (var report in reports)
        {
            if (longest ? report.OrderLength > order.OrderLength : report.OrderLength < order.OrderLength) order = report;
            known = Math.Min(known, report.OrderLength);
            closedOrder = Math.Max(closedOrder, report.OrderClosed);
            for (int part = 0; part < report.Parts; part++) cut.Parts.Add(((ushort)report.Rank, (byte)part));
        }
        cut.Parts.Sort();
        var union = new uint[members];
        for (int s = 0; s < members; s++)
        {
            var holder = reports[0];
            FlushReport? sender = null;
            foreach (var report in reports)
            {
                if (report.Received[s] > holder.Received[s]) holder = report;
                if (report.Rank == s) sender = report;
                cut.Upto[s] = Math.Max(cut.Upto[s], report.Closed[s]);
            }
            union[s] = Math.Min(holder.Received[s], sender?.Received[s] ?? uint.MaxValue);
            if (own.Received[s] == union[s]) holder = own;
            else if (sender is not null) holder = sender;
            cut.Upto[s] = Math.Min(cut.Upto[s], union[s]);
            cut.Holder[s] = (ushort)holder.Rank;
        }
        cut.OrderLength = Math.Min(Math.Max(closedOrder, order.OrderBase), order.OrderLength);
        if (trim) Close(cut, union, order, reports);
        else
        {
            union.CopyTo(cut.Upto, 0);
            cut.OrderLength = order.OrderLength;
        }
        cut.OrderFrom = Math.Max(own.OrderBase, Math.Min(known, cut.OrderLength));
        for (uint x = cut.OrderFrom; x < cut.OrderLength; x++) cut.Records.Add((x < order.OrderBase ? own : order).PositionAt(x));
        return cut;
    }

    private static void Close(FlushCut cut, uint[] union, FlushReport order, IReadOnlyList<FlushReport> reports)
    {
        var points = new Queue<(uint Seq, uint Dep)>[union.Length];
        for (int s = 0; s < union.Length; s++) points[s] = [];
        foreach (var report in reports)
            foreach (var (sender, seq, dep) in report.Points)
                if (report.Rank == cut.Holder[sender]) points[sender].Enqueue((seq, dep));
        while (cut.OrderLength < order.OrderLength)
        {
            var (rank, seq) = order.PositionAt(cut.OrderLength);
            Advance(rank);
            if (cut.Upto[rank] <= seq) break;
            cut.OrderLength++;
        }
        for (int s = 0; s < union.Length; s++) Advance(s);

        // The points of a sender ascend, and the order only grows, so each fulfilled point is passed once. A point for a message that is closed somewhere
        // is fulfilled, unless it was made coarser: then it stands for later messages.
        void Advance(int s)
        {
            while (points[s].TryPeek(out var point) && point.Dep <= cut.OrderLength) points[s].Dequeue();
            cut.Upto[s] = Math.Max(cut.Upto[s], points[s].TryPeek(out var next) ? Math.Min(next.Seq, union[s]) : union[s]);
        }
    }
}
