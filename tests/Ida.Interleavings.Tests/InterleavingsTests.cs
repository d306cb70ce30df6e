namespace Ida.Interleavings.Tests;

/// <summary>Some schedules of each scenario; the tool runs very many (its README).</summary>
public sealed class InterleavingsTests
{
    private const ulong Seed = 1;
    private const int Schedules = 300, MostForControl = 5_000, ForReaching = 500;
    private const double LeastShare = 0.01;

    public static TheoryData<string> Scenarios => [.. ScenarioTable.All.Select(static scenario => scenario.Name)];

    public static TheoryData<string> Controls => [.. Omitted.All.Select(static control => control.Name)];

    [Theory, MemberData(nameof(Scenarios))]
    public void What_has_to_hold_holds_in_each_schedule(string scenario)
    {
        var failed = new Explorer(ScenarioTable.Find(scenario)!).Run(Seed, Schedules);
        Assert.True(failed is null, $"Seed {failed?.Seed}: {failed?.Schedule.Failure}");
    }

    /// <summary>
    /// With the rule the same seed passes. If the code has changed and the listed seed no longer shows the anomaly, one of the next 5,000 has to; the tool finds rarer
    /// seeds.
    /// </summary>
    [Theory, MemberData(nameof(Controls))]
    public void A_rule_that_is_left_out_is_noticed_by_what_goes_wrong_without_it(string control)
    {
        var left = Omitted.All.Single(one => one.Name == control);
        var explorer = new Explorer(ScenarioTable.Find(left.Scenario)!);
        Assert.Null(explorer.RunOne(left.Seed).Failure);
        string? failure = explorer.RunOne(left.Seed, control).Failure;
        if (failure is not null && left.IsNoticedBy(failure)) return;
        var next = explorer.Run(left.Seed + 1, MostForControl, control, left.IsNoticedBy);
        Assert.True(next is not null && left.IsNoticedBy(next.Schedule.Failure!), $"Seed {left.Seed} does not show \"{left.Anomaly}\" any more, but: {failure ?? "nothing"}; nor do the next: {next?.Schedule.Failure ?? "nothing"}");
        Assert.Null(explorer.RunOne(next!.Seed).Failure);
    }

    [Theory, MemberData(nameof(Scenarios))]
    public void Schedules_come_to_what_their_scenario_is_for(string scenario)
    {
        var one = ScenarioTable.Find(scenario)!;
        var explorer = new Explorer(one);
        explorer.Run(Seed, ForReaching);
        Assert.NotEmpty(one.Reaches);
        Assert.All(one.Reaches, name => Assert.True(explorer.Reached.ShareOf(name) >= LeastShare, $"{name}: {explorer.Reached.ShareOf(name):P1}"));
    }

    [Fact]
    public void Each_scenario_has_controls_and_each_control_has_a_scenario()
    {
        Assert.All(ScenarioTable.All, static scenario => Assert.NotEmpty(scenario.Controls));
        Assert.All(Omitted.All, static control => Assert.NotNull(ScenarioTable.Find(control.Scenario)));
        Assert.Distinct(Omitted.All.Select(static control => control.Name));
    }

    [Theory, MemberData(nameof(Scenarios))]
    public void A_seed_gives_the_same_schedule_each_time(string scenario)
    {
        for (ulong seed = Seed; seed < Seed + 4; seed++)
        {
            var (one, other) = (new Explorer(ScenarioTable.Find(scenario)!).RunOne(seed), new Explorer(ScenarioTable.Find(scenario)!).RunOne(seed));
            Assert.Equal(Text(one), Text(other));
        }
    }

    [Theory, MemberData(nameof(Controls))]
    public void A_seed_gives_the_same_schedule_each_time_with_a_rule_left_out(string control)
    {
        var left = Omitted.All.Single(one => one.Name == control);
        var (one, other) = (new Explorer(ScenarioTable.Find(left.Scenario)!).RunOne(left.Seed, control), new Explorer(ScenarioTable.Find(left.Scenario)!).RunOne(left.Seed, control));
        Assert.Equal(Text(one), Text(other));
    }

    [Fact]
    public void All_schedules_of_a_small_class_with_a_preemption_are_run()
    {
        foreach (var scenario in ScenarioTable.All.Where(static scenario => scenario.IsSmall))
        {
            var (failed, count, all) = new Explorer(scenario).RunBounded(preemptions: 1, most: 20_000);
            Assert.Null(failed?.Failure);
            Assert.True(all && count > 10, $"{scenario.Name}: {count} schedules");
        }
    }

    // Only the first line of a failure: the stack trace behind it lacks what the runtime inlines.
    private static IEnumerable<string> Text(Schedule schedule) => schedule.Trace.Select(static one => $"{one.Lane.Number} {one.Place}").Append(schedule.Failure?.Split('\n')[0] ?? "");
}
