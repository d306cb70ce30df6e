using GroupCore.Groups;
using GroupCore.Groups.Flush;
using GroupCore.Groups.Shared;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>The cut of a flush (R4, R5), also where there are more points than a report takes.</summary>
public sealed class ClosureTests
{
    private const int Members = 6;

    /// <summary>Each point of rank 1 waits for the position of the message before it.</summary>
    [Fact]
    public void A_cut_takes_time_by_points_and_positions_and_not_by_their_product()
    {
        const uint count = 150_000;
        var reports = new[] { new FlushReport(1, 0, true, 2), new FlushReport(1, 1, true, 2) };
        reports[1].Received[1] = count;
        for (uint x = 0; x < count; x++)
        {
            reports[0].Order.Add((1, x));
            if (x > 0) reports[1].Points.Add((1, x, x));
        }
        long began = System.Diagnostics.Stopwatch.GetTimestamp();
        var cut = Closure.Cut(1, 2, reports);
        Assert.Equal((count, count), (cut.Upto[1], cut.OrderLength));
        Assert.InRange(System.Diagnostics.Stopwatch.GetElapsedTime(began).TotalSeconds, 0, 5);
    }

    /// <summary>
    /// The longest report begins above the end of another member's order, so the positions between come from the leader's report. The sender of the messages is gone.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void A_cut_begins_where_the_shortest_order_ends_whatever_base_the_longest_has(int leader)
    {
        const uint length = 20, behind = 15;
        FlushReport[] reports = [Report(0, 10, length), Report(1, length, length + 1), Report(2, 10, behind)];
        (reports[0], reports[leader]) = (reports[leader], reports[0]);
        var cut = Closure.Cut(1, 4, reports, own: reports[leader]);
        Assert.Equal((behind, length + 1), (cut.OrderFrom, cut.OrderLength));
        Assert.Equal(Enumerable.Range((int)behind, (int)(length + 1 - behind)).Select(x => ((ushort)3, (uint)x)), cut.Records);

        static FlushReport Report(int rank, uint from, uint length)
        {
            var report = new FlushReport(1, rank, true, 4) { OrderBase = from, OrderClosed = from };
            (report.Received[3], report.Closed[3]) = (length, length);
            for (uint x = from; x < length; x++) report.Order.Add((3, x));
            return report;
        }
    }

    /// <summary>
    /// Rank 2 reports more messages of rank 1 than rank 1 itself does: as received, or also as closed. Rank 1 is here and knows what it sent; of rank 3, which is gone, any
    /// member may know most.
    /// </summary>
    [Theory]
    [InlineData(false, true)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    public void A_member_has_sent_no_more_than_it_reports_itself_in_whatever_order_the_reports_come(bool closed, bool trim)
    {
        int[][] orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        foreach (int[] order in orders)
        {
            FlushReport[] reports = [Report(0, 8, 5), Report(1, 10, 5), Report(2, 12, 9)];
            if (closed) reports[2].Closed[1] = 12;
            var cut = Closure.Cut(1, 4, [.. order.Select(rank => reports[rank])], trim);
            Assert.Equal((10u, 1), (cut.Upto[1], cut.Holder[1]));
            Assert.Equal((9u, 2), (cut.Upto[3], cut.Holder[3]));
        }

        static FlushReport Report(int rank, uint received, uint ofGone)
        {
            var report = new FlushReport(1, rank, true, 4);
            (report.Received[1], report.Closed[1]) = (received, Math.Min(received, 10));
            (report.Received[3], report.Closed[3]) = (ofGone, ofGone);
            return report;
        }
    }

    /// <summary>
    /// Ranks 0, 1 and 2 report, and all have the same messages of rank 3, which is gone. Where the leader or the sender can be the holder no other member is chosen, since only
    /// the leader would have heard its claim.
    /// </summary>
    [Theory]
    [InlineData(1, 10, 1)]
    [InlineData(1, 9, 2)]
    [InlineData(0, 10, 0)]
    [InlineData(0, 9, 2)]
    [InlineData(2, 10, 2)]
    public void Among_equals_the_leader_forwards_then_the_sender(int leader, uint ofLeader, int holder)
    {
        int[][] orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        foreach (int[] order in orders)
        {
            FlushReport[] reports = [Report(0), Report(1), Report(2)];
            reports[leader].Received[2] = reports[leader].Closed[2] = ofLeader;
            var cut = Closure.Cut(1, 4, [.. order.Select(rank => reports[rank])], own: reports[leader]);
            Assert.Equal((10u, holder), (cut.Upto[2], cut.Holder[2]));
            Assert.Equal((7u, leader), (cut.Upto[3], cut.Holder[3]));
        }

        static FlushReport Report(int rank)
        {
            var report = new FlushReport(1, rank, true, 4);
            (report.Received[2], report.Closed[2]) = (10, 10);
            (report.Received[3], report.Closed[3]) = (7, 7);
            return report;
        }
    }

    /// <summary>Rank 0 has closed messages that rank 1 says it did not send: the order ends before those of their positions that no member has closed.</summary>
    [Fact]
    public void A_member_that_reports_less_than_it_sent_has_no_more_than_that_delivered()
    {
        var reports = new[] { new FlushReport(1, 0, true, 2) { OrderClosed = 5 }, new FlushReport(1, 1, true, 2) };
        (reports[0].Received[1], reports[0].Closed[1]) = (8, 6);
        for (uint x = 0; x < 8; x++) reports[0].Order.Add((1, x));
        var cut = Closure.Cut(1, 2, reports);
        Assert.Equal((0u, 5u), (cut.Upto[1], cut.OrderLength));
    }

    [Fact]
    public void The_longest_cut_fits_into_a_frame()
    {
        var cut = new FlushCut(1, GroupLimits.Members);
        for (int i = 0; i < GroupLimits.ReportPositions + GroupLimits.OrderPositions; i++) cut.Records.Add((0, 0));
        for (int i = 0; i < GroupLimits.Members * GroupLimits.Layers; i++) cut.Parts.Add(((ushort)(i / GroupLimits.Layers), (byte)(i % GroupLimits.Layers)));
        Assert.InRange(FrameHeader.Size + cut.Size, 0, LinkLimits.FrameBytes);
    }

    [Theory]
    [InlineData("honest", true)]
    [InlineData("as many as there may be", true)]
    [InlineData("one more", false)]
    [InlineData("same message", false)]
    [InlineData("same position", false)]
    [InlineData("earlier sender", false)]
    public void The_points_of_a_report_ascend_and_are_no_more_than_a_member_writes(string kind, bool taken)
    {
        var report = new FlushReport(1, 0, true, Members);
        uint each = kind == "honest" ? 9_000u : 1;
        for (int s = 0; s < Members; s++)
            for (uint seq = 0; seq < each; seq++) report.AddPoint(s, 3 * seq, 2 * seq + 1);
        const uint last = GroupLimits.ReportPoints + Members;
        if (kind is "as many as there may be" or "one more") report.Points.Clear();
        for (uint seq = 0; kind is "as many as there may be" or "one more" && seq < (kind == "one more" ? last + 1 : last); seq++) report.Points.Add((0, seq, seq + 1));
        if (kind is "same message" or "same position") report.Points.Add((Members - 1, kind == "same message" ? 0u : 1, kind == "same message" ? 2u : 1));
        if (kind == "earlier sender") report.Points.Add((Members - 2, 7, 7));
        var body = new byte[report.Size];
        report.Write(body);
        var read = FlushReport.Read(body, Members);
        Assert.Equal(taken, read is not null);
        if (read is not null) Assert.Equal(report.Points, read.Points);
    }

    /// <summary>
    /// Ranks 0 and 1 report messages of ranks 2 to 5, which are gone. Beyond the limit of points the cut may be smaller than the closure of the union, but never larger, and
    /// nothing that a survivor had closed is missing.
    /// </summary>
    [Theory]
    [InlineData(1, 2_000)]
    [InlineData(2, 2_000)]
    [InlineData(3, 6_000)]
    [InlineData(4, 6_000)]
    [InlineData(5, 9_000)]
    [InlineData(6, 9_000)]
    public void A_cut_is_closed_and_holds_all_that_was_closed_anywhere(ulong seed, int each)
    {
        var random = new Prng(seed);
        var deps = new uint[Members][];
        var order = new List<(ushort Rank, uint Seq)>();
        for (int s = 0; s < Members; s++) deps[s] = new uint[s < 2 ? 0 : each];
        // A run of the group: members send in turns, each message after the positions its sender had seen then.
        var next = new uint[Members];
        for (int i = 0; i < 4 * each; i++)
        {
            int s = 2 + (i % 4);
            deps[s][next[s]] = (uint)random.Next(Math.Max(0, order.Count - 3), order.Count);
            order.Add(((ushort)s, next[s]++));
        }
        // One report knows the order and has few messages, the other the reverse: only both together close most of them.
        var reports = new[] { Report(0, random.Next(each, 2 * each), random.Next(each / 10, each / 5)), Report(1, random.Next(each / 10), random.Next(each * 9 / 10, each)) };
        bool coarse = reports.Any(r => r.Points.Count >= GroupLimits.ReportPoints);
        Assert.Equal(each > 5_000, coarse);
        var cut = Closure.Cut(1, Members, reports);
        var (upto, length) = Exact(reports);
        Assert.True(cut.OrderLength <= length);
        for (int s = 2; s < Members; s++)
        {
            Assert.InRange(cut.Upto[s], reports.Max(r => r.Closed[s]), upto[s]);
            for (uint seq = 0; seq < cut.Upto[s]; seq++) Assert.True(deps[s][seq] <= cut.OrderLength, $"{s}:{seq} needs {deps[s][seq]} of {cut.OrderLength}");
        }
        for (int x = 0; x < cut.OrderLength; x++) Assert.True(cut.Upto[order[x].Rank] > order[x].Seq);
        if (coarse) Assert.True(cut.OrderLength < length, "nothing was left out: the points were not made coarser");
        else Assert.Equal((upto[2], upto[3], upto[4], upto[5], length), (cut.Upto[2], cut.Upto[3], cut.Upto[4], cut.Upto[5], cut.OrderLength));

        FlushReport Report(int rank, long known, long received)
        {
            var report = new FlushReport(1, rank, true, Members);
            for (int x = 0; x < known; x++) report.Order.Add(order[x]);
            for (int s = 2; s < Members; s++) report.Received[s] = (uint)received;
            report.OrderClosed = Close(report.Received, (uint)known, report.Closed);
            for (int s = 2; s < Members; s++)
            {
                uint dep = 0;
                for (uint seq = report.Closed[s]; seq != report.Received[s]; seq++)
                    if (deps[s][seq] > dep) report.AddPoint(s, seq, dep = deps[s][seq]);
            }
            return report;
        }

        (uint[] Upto, uint Length) Exact(FlushReport[] all)
        {
            var union = new uint[Members];
            for (int s = 0; s < Members; s++) union[s] = all.Max(r => r.Received[s]);
            var closed = new uint[Members];
            return (closed, Close(union, all.Max(r => r.OrderLength), closed));
        }

        // The definition (multicast.md#only-closed-messages-are-delivered-and-acknowledged).
        uint Close(uint[] received, uint known, uint[] closed)
        {
            uint positions = 0;
            for (bool moved = true; moved;)
            {
                moved = false;
                for (int s = 2; s < Members; s++)
                    for (; closed[s] < received[s] && deps[s][closed[s]] <= positions; closed[s]++) moved = true;
                for (; positions < known && closed[order[(int)positions].Rank] > order[(int)positions].Seq; positions++) moved = true;
            }
            return positions;
        }
    }
}
