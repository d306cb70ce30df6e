using Oracle.Client;

namespace Oracle.Tests;

/// <summary>How long a process that may found a system lets earlier seeds go first (oracle.md#only-seeds-found-the-earlier-first).</summary>
public sealed class DeferenceTests
{
    private const long Millisecond = Durations.Millisecond;

    [Theory]
    [InlineData(0, 3_500)]
    [InlineData(1, 3_500 + 30_000 + 5_000)]
    [InlineData(3, 3_500 + (3 * 30_000) + (3 * 5_000))]
    public void With_time_enough_each_place_has_30_s_and_each_earlier_seed_5_s(int own, long milliseconds) =>
        Assert.Equal(milliseconds * Millisecond, new Deference(new(), own, others: 3).To(0));

    /// <summary>If it waited longer, the user might give up on it first, and its next life knows nothing of the time already waited.</summary>
    [Theory]
    [InlineData(10)]
    [InlineData(15)]
    [InlineData(60)]
    public void The_last_seed_waits_for_the_first_for_three_quarters_of_its_time_to_start(int seconds) =>
        Assert.InRange(Of(seconds, 2, 2).To(0), (seconds * Durations.Second / 4 * 3) - Millisecond, seconds * Durations.Second / 4 * 3);

    [Fact]
    public void A_seed_founds_well_before_the_one_behind_it()
    {
        for (int own = 1; own < 5; own++)
            for (int place = 0; place < own; place++)
                Assert.True(Of(15, own, 4).To(place) + (500 * Millisecond) <= Of(15, own + 1, 4).To(place), $"{own} waits for {place}");
    }

    [Fact]
    public void Earlier_seeds_are_waited_for_longer()
    {
        var last = Of(15, 4, 4);
        for (int place = 1; place < 4; place++) Assert.True(last.To(place) + (500 * Millisecond) <= last.To(place - 1));
    }

    /// <summary>The order of the seeds matters more than the time.</summary>
    [Fact]
    public void However_many_seeds_and_however_little_time_there_are_a_step_is_half_a_second()
    {
        Assert.Equal((3_500 + (100 * 500) + (100 * 500)) * Millisecond, Of(15, 100, 100).To(0));
        Assert.Equal((3_500 + 500 + 500) * Millisecond, Of(1, 1, 1).To(0));
    }

    [Theory]
    [InlineData(15, 1, 5_000)]
    [InlineData(15, 2, 3_875)]
    [InlineData(15, 4, 3_500)]
    [InlineData(1, 1, 3_500)]
    public void A_node_that_only_says_that_it_listens_at_a_seeds_address_is_waited_for_5_s_at_most(int seconds, int own, long milliseconds) =>
        Assert.Equal(milliseconds * Millisecond, Of(seconds, own, 4).ToClaim);

    private static Deference Of(int seconds, int own, int others) => new(new() { StartTimeout = TimeSpan.FromSeconds(seconds) }, own, others);
}
