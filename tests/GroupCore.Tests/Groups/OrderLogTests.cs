using GroupCore.Groups.Multicast;

namespace GroupCore.Tests.Groups;

/// <summary>The order of a view as far as a member knows it, and its positions on the wire (multicast.md#one-sequencer-gives-all-positions).</summary>
public sealed class OrderLogTests
{
    private readonly OrderLog _order = new();

    [Fact]
    public void Positions_are_held_from_the_first_that_is_not_dropped()
    {
        for (uint i = 0; i < 500; i++) _order.Append((int)(i % 3), i);
        (_order.Delivered, _order.Closed) = (450, 450);
        _order.DropBelow(400);
        for (uint i = 500; i < 1_000; i++) _order.Append((int)(i % 3), i);
        Assert.Equal((400u, 1_000u, 600), (_order.Base, _order.Length, _order.Count));
        for (uint i = 400; i < 1_000; i++) Assert.Equal(((ushort)(i % 3), i), _order[i]);
    }

    /// <summary>A member without the state delivers nothing, and needs these positions to find the state's place in the order.</summary>
    [Fact]
    public void What_is_closed_at_all_members_and_not_delivered_here_is_kept()
    {
        for (uint i = 0; i < 10; i++) _order.Append(0, i);
        _order.Delivered = 3;
        _order.DropBelow(7);
        Assert.Equal((3u, 7u), (_order.Base, _order.Stable));
        _order.DropBelow(5);
        Assert.Equal((3u, 7u), (_order.Base, _order.Stable));
        _order.Delivered = 9;
        _order.DropBelow(7);
        Assert.Equal((7u, 7u), (_order.Base, _order.Stable));
    }

    [Fact]
    public void What_is_forgotten_begins_no_earlier_than_what_is_held()
    {
        for (uint i = 0; i < 10; i++) _order.Append(0, i);
        _order.Truncate(20);
        Assert.Equal(10u, _order.Length);
        _order.Truncate(6);
        Assert.Equal(6u, _order.Length);
        _order.Delivered = 4;
        _order.DropBelow(4);
        _order.Truncate(2);
        Assert.Equal((4u, 4u, 0), (_order.Base, _order.Length, _order.Count));
        _order.Append(2, 8);
        Assert.Equal(((ushort)2, 8u), _order[4]);
    }

    [Fact]
    public void An_order_that_gave_its_places_back_goes_on_with_the_next_position()
    {
        for (uint i = 0; i < 100; i++) _order.Append(0, i);
        _order.Trim();
        Assert.Equal(((ushort)0, 99u), _order[99]);
        _order.Delivered = 100;
        _order.DropBelow(100);
        _order.Trim();
        _order.Append(1, 7);
        Assert.Equal(((ushort)1, 7u), _order[100]);
        Assert.Equal(101u, _order.Length);
    }

    [Fact]
    public void Messages_of_a_sender_that_follow_each_other_are_one_run()
    {
        Append((0, 5), (0, 6), (0, 7), (1, 3), (0, 8), (0, 10));
        Assert.Equal(4 * 8, OrderRuns.SizeOf(_order, 0, 6));
        Assert.Equal("0000030005000000" + "0100010003000000" + "0000010008000000" + "000001000A000000", Written(0, 6));
        // A part of a run is a run by itself.
        Assert.Equal("0000010007000000" + "0100010003000000", Written(2, 4));
    }

    [Fact]
    public void What_is_written_is_read()
    {
        for (uint i = 0; i < 3_000; i++) _order.Append((int)(i / 7 % 5), i);
        var read = new List<(ushort, uint)>();
        Assert.True(OrderRuns.TryRead(Convert.FromHexString(Written(100, 3_000)), 5, 2_900, read));
        Assert.Equal(Enumerable.Range(100, 2_900).Select(i => _order[(uint)i]), read);
    }

    [Fact]
    public void A_run_longer_than_its_count_has_room_for_is_split()
    {
        const int Count = 150_000;
        for (uint i = 0; i < Count; i++) _order.Append(1, i);
        byte[] frame = new byte[OrderRuns.SizeOf(_order, 0, Count)];
        OrderRuns.Write(frame, _order, 0, Count);
        Assert.Equal(3 * 8, frame.Length);
        var read = new List<(ushort Rank, uint Seq)>();
        Assert.True(OrderRuns.TryRead(frame, 2, Count, read));
        Assert.Equal(Enumerable.Range(0, Count), read.Select(static one => (int)one.Seq));
    }

    [Theory]
    [InlineData("00000100050000", "not whole")]
    [InlineData("0200010005000000", "of no member")]
    [InlineData("00000B0005000000", "more than may come")]
    [InlineData("0000010005000000" + "00000A0005000000", "more than may come together")]
    [InlineData("00000200FFFFFF7F", "beyond the numbers of a view")]
    public void Runs_that_no_sequencer_writes_are_refused(string hex, string why) => Assert.False(OrderRuns.TryRead(Convert.FromHexString(hex), 2, 10, []), why);

    [Theory]
    [InlineData("", 0)]
    [InlineData("0000000005000000", 0)]
    [InlineData("00000A0005000000", 10)]
    [InlineData("01000100FFFFFF7F", 1)]
    public void Runs_up_to_the_bounds_are_taken(string hex, int positions)
    {
        var read = new List<(ushort, uint)>();
        Assert.True(OrderRuns.TryRead(Convert.FromHexString(hex), 2, 10, read));
        Assert.Equal(positions, read.Count);
    }

    private void Append(params (int Rank, uint Seq)[] positions)
    {
        foreach (var (rank, seq) in positions) _order.Append(rank, seq);
    }

    private string Written(uint from, uint to)
    {
        byte[] frame = new byte[OrderRuns.SizeOf(_order, from, to)];
        OrderRuns.Write(frame, _order, from, to);
        return Convert.ToHexString(frame);
    }
}
