using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Tests;

public sealed class TimelineTests
{
    /// <summary>Successes per step: (how many steps, how many in each).</summary>
    private static Timeline Of(params (int Steps, int Each)[] parts) => new(parts.SelectMany(p => Enumerable.Repeat(p.Each, p.Steps)));

    [Fact]
    public void Successes_fall_into_steps_of_ten_milliseconds()
    {
        var line = new Timeline(3);
        foreach (long ms in new[] { -11, 0, 9, 10, 29, 30, 1000 }) line.Count(ms * Clock.Millisecond);
        Assert.Equal([2, 1, 1], line.ToArray());
    }

    [Fact]
    public void The_longest_silence_is_found_in_the_sum_of_all_members()
    {
        var sum = Timeline.Sum([Of((10, 1), (20, 0), (10, 1)), Of((15, 1), (10, 0), (15, 1))]);
        Assert.Equal((100, 25), sum.LongestZero(0, sum.Length));
        Assert.Equal((0, 30), sum.LongestZero(30, 40));
    }

    [Fact]
    public void A_rate_is_a_mean_per_second() => Assert.Equal(300, Of((50, 2), (50, 4)).Rate(0, 100));

    [Fact]
    public void Recovery_is_the_first_half_second_at_ninety_percent_behind_the_gap()
    {
        // Half a second at 90 % may begin with a tenth of a second at half the rate.
        Assert.Equal((true, 900), Of((100, 10), (50, 0), (50, 5), (200, 10)).Recovery(100, 1000));
        Assert.Equal((true, -1), Of((100, 10), (50, 0), (200, 8)).Recovery(100, 1000));
        Assert.Equal((false, 0), Of((100, 10), (4, 0), (200, 10)).Recovery(100, 1000));
    }
}
