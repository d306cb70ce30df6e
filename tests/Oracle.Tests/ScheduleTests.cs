using Oracle.Tests.Support;

namespace Oracle.Tests;

/// <summary>
/// Random schedules of the Oracle alone (groupcore-oracle 12.3, last row; B1, B5, B6, B16 as far as they concern it): log agreement, one leader
/// per term, one member list per view, a view only after the flush of its proposal, no activity in a view after the next, and an end.
/// </summary>
public sealed class ScheduleTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Guarantees_hold_and_every_proposal_ends(int block)
    {
        int lost = 0;
        for (ulong seed = 1 + (25 * (ulong)block); seed <= 25 * (ulong)(block + 1); seed++)
        {
            using var schedule = new Schedule(seed);
            schedule.Run();
            schedule.Cluster.AssertNoViolations();
            if (schedule.OracleLost) lost++;
        }
        Assert.True(lost <= 10, $"the Oracle was lost in {lost} of 25 runs");
    }

    [Fact]
    public void Guarantees_hold_when_voters_die_without_regard()
    {
        for (ulong seed = 1_001; seed <= 1_020; seed++)
        {
            using var schedule = new Schedule(seed, wild: true);
            schedule.Run();
            schedule.Cluster.AssertNoViolations();
        }
    }

    [Theory]
    [InlineData(7)]
    [InlineData(8)]
    public void The_same_seed_takes_the_same_steps(ulong seed)
    {
        using var first = new Schedule(seed);
        using var second = new Schedule(seed);
        Assert.Equal(first.Run(), second.Run());
    }
}
