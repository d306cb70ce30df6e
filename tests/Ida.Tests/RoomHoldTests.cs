using Ida.Coordination;

namespace Ida.Tests;

/// <summary>Room of full links that is kept for one operation on several members.</summary>
public sealed class RoomHoldTests
{
    private const long Millisecond = 1_000_000;
    private readonly RoomHold _hold = new();
    private readonly IdleOperation _holder = IdleOperation.Put();
    private readonly IdleOperation _other = IdleOperation.Put();

    [Fact]
    public void The_members_of_the_holder_have_no_room_for_others()
    {
        _hold.Begin(_holder, [1, 3], 0);
        Assert.True(_hold.KeepsFrom(_other, 1) && _hold.KeepsFrom(_other, 3));
        Assert.False(_hold.KeepsFrom(_other, 2) || _hold.KeepsFrom(_holder, 1));
    }

    [Fact]
    public void One_operation_holds_at_a_time()
    {
        Assert.True(_hold.MayBegin(0));
        _hold.Begin(_holder, [1], 0);
        Assert.False(_hold.MayBegin(1_000 * Millisecond));
    }

    [Fact]
    public void A_hold_ends_with_its_operation_and_with_no_other()
    {
        _hold.Begin(_holder, [1], 0);
        Assert.False(_hold.End(_other, Millisecond));
        Assert.True(_hold.KeepsFrom(_other, 1));
        Assert.True(_hold.End(_holder, Millisecond));
        Assert.False(_hold.KeepsFrom(_other, 1));
        Assert.False(_hold.End(_holder, Millisecond));
    }

    /// <summary>One of the holder's members may have stopped, and then the hold would stop the others.</summary>
    [Fact]
    public void A_hold_lasts_100_ms_at_most()
    {
        _hold.Begin(_holder, [1], Millisecond);
        Assert.False(_hold.IsOver((101 * Millisecond) - 1));
        Assert.True(_hold.IsOver(101 * Millisecond));
        _hold.End(101 * Millisecond);
        Assert.False(_hold.IsOver(1_000 * Millisecond));
    }

    [Fact]
    public void Between_holds_is_a_pause_of_three_times_the_hold()
    {
        _hold.Begin(_holder, [1], 10 * Millisecond);
        _hold.End(20 * Millisecond);
        Assert.False(_hold.MayBegin((50 * Millisecond) - 1));
        Assert.True(_hold.MayBegin(50 * Millisecond));
        // The end of nothing begins no pause.
        _hold.End(1_000 * Millisecond);
        Assert.True(_hold.MayBegin(50 * Millisecond));
    }

    [Fact]
    public void The_next_hold_keeps_its_own_members_alone()
    {
        _hold.Begin(_holder, [1, 3], 0);
        _hold.End(0);
        _hold.Begin(_other, [2], 0);
        Assert.True(_hold.KeepsFrom(_holder, 2));
        Assert.False(_hold.KeepsFrom(_holder, 1) || _hold.KeepsFrom(_holder, 3));
    }
}
