using GroupCore.Groups.Flush;
using GroupCore.Groups.Shared;

namespace GroupCore.Tests.Groups;

/// <summary>
/// What survivors deliver of the view that ends, computed from what each says that it has (views-and-flush.md#the-cut-is-closed, #the-longest-order-wins). Unless a test says
/// otherwise members 0 and 1 survive, and 2 is gone.
/// </summary>
public sealed class FlushCutTests
{
    private const int Members = 3, Gone = 2;
    private readonly FlushReport _first = new(9, 0, true, Members);
    private readonly FlushReport _second = new(9, 1, true, Members);

    [Fact]
    public void All_that_anybody_received_is_delivered_by_all()
    {
        (_first.Received[Gone], _second.Received[Gone]) = (3, 5);
        var cut = Cut();
        Assert.Equal((5u, (ushort)1), (cut.Upto[Gone], cut.Holder[Gone]));
    }

    [Fact]
    public void The_cut_of_a_sender_that_takes_part_is_what_it_says_that_it_sent()
    {
        (_first.Received[1], _second.Received[1]) = (3, 7);
        Assert.Equal(7u, Cut().Upto[1]);
        _first.Received[1] = 100;
        Assert.Equal(7u, Cut().Upto[1]);
    }

    /// <summary>Its sender had delivered positions that no survivor knows: a member that delivers the message would have an order with a gap.</summary>
    [Fact]
    public void A_message_that_follows_positions_nobody_has_is_delivered_by_nobody()
    {
        _second.Received[Gone] = 5;
        _second.AddPoint(Gone, 3, 4);
        Assert.Equal(3u, Cut().Upto[Gone]);
    }

    [Fact]
    public void A_message_that_follows_positions_that_are_known_is_delivered()
    {
        _second.Received[Gone] = 5;
        _second.AddPoint(Gone, 3, 2);
        (_first.Received[0], _second.Received[0]) = (2, 2);
        _first.Order.AddRange([(0, 0), (0, 1)]);
        var cut = Cut();
        Assert.Equal((5u, 2u), (cut.Upto[Gone], cut.OrderLength));
    }

    /// <summary>A member may already have delivered what it holds closed.</summary>
    [Fact]
    public void What_is_closed_anywhere_is_delivered()
    {
        (_second.Received[Gone], _second.Closed[Gone]) = (5, 4);
        _second.AddPoint(Gone, 3, 4);
        Assert.Equal(4u, Cut().Upto[Gone]);
    }

    [Fact]
    public void The_longest_order_counts_and_members_that_know_less_are_told_the_rest()
    {
        (_first.Received[0], _second.Received[0]) = (3, 3);
        _first.Order.AddRange([(0, 0)]);
        _second.Order.AddRange([(0, 0), (0, 1), (0, 2)]);
        var cut = Cut();
        Assert.Equal((1u, 3u), (cut.OrderFrom, cut.OrderLength));
        Assert.Equal([((ushort)0, 1u), ((ushort)0, 2u)], cut.Records);
    }

    [Fact]
    public void The_order_ends_before_the_first_position_whose_message_nobody_has()
    {
        (_first.Received[0], _second.Received[0], _second.Received[Gone]) = (1, 1, 1);
        _second.Order.AddRange([(Gone, 0), (Gone, 1), (0, 0)]);
        Assert.Equal(1u, Cut().OrderLength);
    }

    [Fact]
    public void An_order_that_is_closed_anywhere_is_delivered()
    {
        _second.Order.AddRange([(Gone, 0), (Gone, 1), (Gone, 2)]);
        _second.OrderClosed = 2;
        Assert.Equal(2u, Cut().OrderLength);
    }

    [Fact]
    public void Contributions_are_those_that_came_before_the_reports()
    {
        _second.Parts = 2;
        Assert.Equal([((ushort)1, (byte)0), ((ushort)1, (byte)1)], Cut().Parts);
        _first.Parts = 1;
        Assert.Equal([((ushort)0, (byte)0), ((ushort)1, (byte)0), ((ushort)1, (byte)1)], Closure.Cut(9, Members, [_second, _first]).Parts);
    }

    [Fact]
    public void Without_the_rules_gaps_are_delivered_and_orders_forgotten()
    {
        _second.Received[Gone] = 5;
        _second.AddPoint(Gone, 3, 4);
        Assert.Equal(5u, Closure.Cut(9, Members, [_first, _second], trim: false).Upto[Gone]);
        (_first.Received[0], _second.Received[0]) = (3, 3);
        _first.Order.AddRange([(0, 0)]);
        _second.Order.AddRange([(0, 0), (0, 1), (0, 2)]);
        Assert.Equal(1u, Closure.Cut(9, Members, [_first, _second], longest: false).OrderLength);
    }

    [Fact]
    public void A_cut_that_is_written_is_read_and_none_that_was_cut_or_has_more_behind()
    {
        (_first.Received[0], _second.Received[0], _second.Received[Gone], _first.Parts) = (3, 3, 5, 2);
        _second.Order.AddRange([(0, 0), (0, 1), (0, 2)]);
        var cut = Cut();
        byte[] bytes = new byte[cut.Size];
        cut.Write(bytes);
        var read = FlushCut.Read(bytes, Members)!;
        Assert.Equal((cut.Proposal, cut.OrderFrom, cut.OrderLength), (read.Proposal, read.OrderFrom, read.OrderLength));
        Assert.Equal(cut.Upto, read.Upto);
        Assert.Equal(cut.Holder, read.Holder);
        Assert.Equal(cut.Records, read.Records);
        Assert.Equal(cut.Parts, read.Parts);
        for (int length = 0; length < bytes.Length; length++) Assert.Null(FlushCut.Read(bytes.AsSpan(0, length), Members));
        Assert.Null(FlushCut.Read([.. bytes, 0], Members));
        Assert.Null(FlushCut.Read(bytes, Members - 1));
    }

    [Fact]
    public void A_report_that_is_written_is_read_and_none_that_was_cut_or_has_more_behind()
    {
        (_second.Received[Gone], _second.Closed[Gone], _second.Parts, _second.OrderBase, _second.OrderClosed) = (5, 4, 3, 7, 8);
        _second.Order.AddRange([(0, 0), (Gone, 1)]);
        _second.AddPoint(0, 3, 4);
        _second.AddPoint(Gone, 3, 4);
        byte[] bytes = new byte[_second.Size];
        _second.Write(bytes);
        var read = FlushReport.Read(bytes, Members)!;
        Assert.Equal((9UL, 1, true, 3, 7u, 8u, 9u), (read.Proposal, read.Rank, read.Initialised, read.Parts, read.OrderBase, read.OrderClosed, read.OrderLength));
        Assert.Equal(_second.Received, read.Received);
        Assert.Equal(_second.Closed, read.Closed);
        Assert.Equal(_second.Order, read.Order);
        Assert.Equal(_second.Points, read.Points);
        Assert.Equal(((ushort)Gone, 1u), read.PositionAt(8));
        for (int length = 0; length < bytes.Length; length++) Assert.Null(FlushReport.Read(bytes.AsSpan(0, length), Members));
        Assert.Null(FlushReport.Read([.. bytes, 0], Members));
        Assert.Null(FlushReport.Read(bytes, Members - 1));
    }

    [Theory]
    [InlineData("closed beyond received")]
    [InlineData("order closed before its base")]
    [InlineData("order closed beyond its end")]
    [InlineData("position of no member")]
    [InlineData("rank of no member")]
    public void A_report_that_no_member_writes_is_none(string what)
    {
        var report = what == "rank of no member" ? new FlushReport(9, Members, true, Members) : _second;
        (report.Received[0], report.Closed[0], report.OrderBase, report.OrderClosed) = (3, 3, 5, 6);
        report.Order.AddRange([(what == "position of no member" ? (ushort)Members : (ushort)0, 0u)]);
        Assert.Equal(what is "position of no member" or "rank of no member", !Reads(report));
        if (what == "closed beyond received") report.Closed[0] = 4;
        else if (what == "order closed before its base") report.OrderClosed = 4;
        else if (what == "order closed beyond its end") report.OrderClosed = 7;
        Assert.False(Reads(report));

        static bool Reads(FlushReport report)
        {
            byte[] bytes = new byte[report.Size];
            report.Write(bytes);
            return FlushReport.Read(bytes, Members) is not null;
        }
    }

    private FlushCut Cut() => Closure.Cut(9, Members, [_first, _second]);
}
