using Ida.Shared;

namespace Ida.Tests;

/// <summary>Logical time: the physical clock in the upper bits, a counter in the lower ones; and how far it may be from the others' (dht-order.md#clocks-stay-in-range).</summary>
public sealed class HybridClockTests
{
    private const int CounterBits = 12;
    private const long Second = 1_000_000_000;
    private readonly HybridClock _clock = new(0);

    [Fact]
    public void The_physical_part_is_in_microseconds_above_a_counter() => Assert.Equal(5UL << CounterBits, _clock.Physical(5_999));

    [Fact]
    public void A_clock_before_the_origin_shows_the_origin() => Assert.Equal(0UL, new HybridClock(-Second).Physical(Second - 1));

    [Fact]
    public void The_latest_clock_leaves_room_for_the_counter_and_two_jumps()
    {
        var clock = new HybridClock(long.MaxValue);
        Assert.Equal(HybridClock.MaxTime - (2 * HybridClock.Jump), clock.Physical(0));
        Assert.Equal(clock.Physical(0), clock.Physical(Second));
    }

    [Fact]
    public void A_hint_is_the_physical_clock_where_nothing_later_was_heard()
    {
        _clock.Observe(_clock.Physical(Second) - 1);
        Assert.Equal(_clock.Physical(Second), _clock.Hint(Second));
    }

    [Fact]
    public void A_hint_is_above_all_that_was_heard_and_each_above_the_one_before()
    {
        ulong heard = _clock.Physical(Second) + 17;
        _clock.Observe(heard);
        Assert.Equal((heard + 1, heard + 2), (_clock.Hint(Second), _clock.Hint(Second)));
        Assert.Equal(heard + 2, _clock.Heard);
    }

    /// <summary>Others refuse what is later, so a later hint would be of no use.</summary>
    [Fact]
    public void A_hint_is_no_later_than_what_others_take()
    {
        _clock.Observe(5 * HybridClock.Jump);
        Assert.Equal(_clock.Limit(Second), _clock.Hint(Second));
        Assert.Equal(_clock.Physical(Second) + HybridClock.Jump, _clock.Limit(Second));
    }

    [Fact]
    public void A_hint_from_elsewhere_counts_up_to_half_a_second_ahead()
    {
        ulong ahead = 500_000UL << CounterBits;
        Assert.Equal(ahead - 1, _clock.Clamp(ahead - 1, 0));
        Assert.Equal(_clock.Physical(Second) + ahead, _clock.Clamp(ulong.MaxValue, Second));
    }

    [Fact]
    public void A_proposal_may_be_a_jump_behind_the_hint_that_it_answers()
    {
        Assert.Equal(7 + HybridClock.Jump, _clock.LimitAfter(7));
        Assert.Equal(HybridClock.MaxTime, _clock.LimitAfter(HybridClock.MaxTime - 1));
        Assert.Equal(HybridClock.MaxTime, _clock.LimitAfter(ulong.MaxValue));
    }

    [Fact]
    public void No_time_counts_beyond_the_range()
    {
        _clock.Commit(ulong.MaxValue);
        Assert.Equal((HybridClock.MaxTime, HybridClock.MaxTime), (_clock.Heard, _clock.Committed));
    }

    [Fact]
    public void What_is_committed_was_heard_and_what_was_heard_need_not_be_committed()
    {
        _clock.Observe(9);
        Assert.Equal((9UL, 0UL), (_clock.Heard, _clock.Committed));
        _clock.Commit(7);
        Assert.Equal((9UL, 7UL), (_clock.Heard, _clock.Committed));
        _clock.Commit(11);
        Assert.Equal((11UL, 11UL), (_clock.Heard, _clock.Committed));
    }

    /// <summary>A view may have decided a time on the word of one lying member.</summary>
    [Fact]
    public void Others_are_told_of_no_committed_time_that_would_be_refused_from_one_of_them()
    {
        _clock.Commit(5 * HybridClock.Jump);
        Assert.Equal(HybridClock.Jump, _clock.ToldCommitted(0));
    }

    [Fact]
    public void Others_are_told_of_a_committed_time_in_range_as_it_is()
    {
        _clock.Commit(3);
        Assert.Equal(3UL, _clock.ToldCommitted(0));
    }

    [Fact]
    public void A_clock_that_is_behind_the_others_is_set_to_theirs()
    {
        ulong theirs = new HybridClock(0).Physical(100 * Second);
        _clock.Align(theirs, 0, 0, 3 * Second);
        Assert.Equal(theirs, _clock.Physical(3 * Second));
        Assert.Equal(new HybridClock(0).Physical(101 * Second), _clock.Physical(4 * Second));
    }

    [Theory]
    [InlineData(60, 60)]
    [InlineData(61, 0)]
    public void A_clock_that_is_ahead_of_the_others_is_set_back_only_beyond_a_minute(int ahead, int then)
    {
        var clock = new HybridClock(ahead * Second);
        clock.Align(0, 0, 0, 0);
        Assert.Equal(_clock.Physical(then * Second), clock.Physical(0));
    }

    /// <summary>Otherwise each step of such a clock would be lost in the part beyond the range.</summary>
    [Fact]
    public void A_clock_far_beyond_the_range_can_be_set_back()
    {
        var clock = new HybridClock(long.MaxValue);
        clock.Align(5UL << CounterBits, 0, 0, Second);
        Assert.Equal(5UL << CounterBits, clock.Physical(Second));
        Assert.Equal((5UL + 1_000_000) << CounterBits, clock.Physical(2 * Second));
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(3, 4)]
    [InlineData(9, 5)]
    public void A_committed_time_counts_up_to_a_jump_beyond_where_two_members_stand(int ground, int taken)
    {
        _clock.Align(0, (ulong)ground * HybridClock.Jump, 5 * HybridClock.Jump, 0);
        Assert.Equal((ulong)taken * HybridClock.Jump, _clock.Committed);
        // The next limit counts from there.
        Assert.Equal((ulong)(taken + 1) * HybridClock.Jump, _clock.Limit(0));
    }

    [Fact]
    public void A_time_out_of_range_that_nobody_committed_is_forgotten()
    {
        _clock.Observe(5 * HybridClock.Jump);
        _clock.Align(0, 0, 7, 0);
        Assert.True(_clock.WasAhead);
        Assert.Equal((8UL, 7UL), (_clock.Heard, _clock.Committed));
    }

    [Fact]
    public void A_time_within_range_is_not_forgotten()
    {
        _clock.Observe(HybridClock.Jump);
        _clock.Align(0, 0, 7, 0);
        Assert.False(_clock.WasAhead);
        Assert.Equal((HybridClock.Jump, 7UL), (_clock.Heard, _clock.Committed));
    }

    /// <summary>It is the time of a put that this member holds, and a later put must come behind it.</summary>
    [Fact]
    public void A_committed_time_out_of_range_is_not_forgotten()
    {
        _clock.Commit(5 * HybridClock.Jump);
        _clock.Align(0, 0, 0, 0);
        Assert.True(_clock.WasAhead);
        Assert.Equal((5 * HybridClock.Jump, 5 * HybridClock.Jump), (_clock.Heard, _clock.Committed));
        Assert.Equal(2 * HybridClock.Jump, _clock.ToldCommitted(0));
    }
}
