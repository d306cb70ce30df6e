using GroupCore.Basics;

namespace GroupCore.Tests.Runtime;

/// <summary>Time limits that callers give, and estimates of how long a backlog takes.</summary>
public sealed class TimeLimitTests
{
    private const long Millisecond = 1_000_000;

    [Fact]
    public void A_limit_is_positive_or_infinite()
    {
        Assert.True(TimeLimit.IsAllowed(TimeSpan.FromTicks(1)) && TimeLimit.IsAllowed(Timeout.InfiniteTimeSpan) && TimeLimit.IsAllowed(TimeSpan.MaxValue));
        Assert.False(TimeLimit.IsAllowed(TimeSpan.Zero) || TimeLimit.IsAllowed(TimeSpan.FromTicks(-1)) || TimeLimit.IsAllowed(TimeSpan.MinValue));
        Assert.Equal(TimeSpan.FromSeconds(3), TimeLimit.Checked(TimeSpan.FromSeconds(3), "timeout"));
        Assert.Equal("timeout", Assert.Throws<ArgumentOutOfRangeException>(static () => TimeLimit.Checked(TimeSpan.Zero, "timeout")).ParamName);
    }

    /// <summary>The longest times would wrap around.</summary>
    [Fact]
    public void A_limit_that_no_machine_lives_to_see_is_none()
    {
        Assert.Equal(5_000_000_007, TimeLimit.Due(7, TimeSpan.FromSeconds(5)));
        foreach (var time in new[] { Timeout.InfiniteTimeSpan, TimeSpan.MaxValue, TimeSpan.FromDays(36_500) }) Assert.Equal(TimeLimit.Never, TimeLimit.Due(7, time));
    }

    [Fact]
    public void A_rate_that_is_not_known_lets_wait_for_a_second()
    {
        var rate = new DrainRate();
        Assert.Equal(TimeSpan.FromSeconds(1), rate.TimeFor(1));
        rate.Add(1_000);
        rate.Measure(0);
        rate.Measure(49 * Millisecond);
        Assert.Equal(TimeSpan.FromSeconds(1), rate.TimeFor(1));
    }

    /// <summary>An idle moment or a burst alone should not decide the rate.</summary>
    [Fact]
    public void The_latest_window_counts_half()
    {
        var rate = new DrainRate();
        rate.Measure(0);
        rate.Add(1_000);
        rate.Measure(100 * Millisecond);
        Assert.Equal(TimeSpan.FromMilliseconds(100), rate.TimeFor(1_000));
        rate.Measure(200 * Millisecond);
        Assert.Equal(TimeSpan.FromMilliseconds(200), rate.TimeFor(1_000));
        rate.Add(1_500);
        rate.Measure(300 * Millisecond);
        Assert.Equal(TimeSpan.FromMilliseconds(100), rate.TimeFor(1_000));
    }

    [Fact]
    public void The_estimate_is_between_a_millisecond_and_a_second()
    {
        var rate = new DrainRate();
        rate.Measure(0);
        rate.Add(1_000);
        rate.Measure(100 * Millisecond);
        Assert.Equal((TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1)), (rate.TimeFor(0), rate.TimeFor(1_000_000)));
    }
}
