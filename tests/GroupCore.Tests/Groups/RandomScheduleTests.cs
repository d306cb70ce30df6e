namespace GroupCore.Tests.Groups;

/// <summary>B1 for groups alone: random schedules over a scripted membership, judged by the checker of virtual synchrony.</summary>
public sealed class RandomScheduleTests
{
    private const int Seeds = 120;

    [Fact]
    public void B1_no_guarantee_is_broken_in_random_schedules()
    {
        long deliveries = 0;
        int views = 0;
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            var (violation, _, delivered, installed) = new RandomSchedule().Run(seed);
            Assert.True(violation is null, $"seed {seed}: {violation}");
            deliveries += delivered;
            views += installed;
        }
        // The schedules are worth nothing if little happens in them.
        Assert.True(deliveries > 50_000, $"{deliveries} deliveries");
        Assert.True(views > 4 * Seeds, $"{views} views");
    }

    [Theory]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(9)]
    public void B1_the_same_seed_takes_the_same_steps(ulong seed) =>
        Assert.Equal(new RandomSchedule().Run(seed).Hash, new RandomSchedule().Run(seed).Hash);
}
