using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>B1 for groups alone: random schedules over a scripted membership, judged by the checker of virtual synchrony.</summary>
public sealed class RandomScheduleTests
{
    [Fact]
    public void B1_no_guarantee_is_broken_in_random_schedules()
    {
        long runs = 0, deliveries = 0, views = 0;
        SimulationRunner.ForEachSeed(120, $"*{nameof(B1_no_guarantee_is_broken_in_random_schedules)}", GroupScenarios.General.Case(done: run =>
            (runs, deliveries, views) = (runs + 1, deliveries + run.Work, views + run.Views)));
        // The schedules prove nothing if little happens in them.
        Assert.True(deliveries > runs * 400, $"{deliveries} deliveries in {runs} runs");
        Assert.True(views > 4 * runs, $"{views} views in {runs} runs");
    }

    /// <summary>One member remains, with far more calls queued than the views of three seconds can take.</summary>
    [Fact]
    public void B1_a_schedule_of_short_views_is_judged_when_no_call_waits() => Assert.Null(GroupScenarios.Joins.Judge(71_016_123));
}
