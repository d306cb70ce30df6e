using GroupCore.Groups;
using Ida.Testing;
using Ida.Testing.Checking;

namespace Ida.Tests;

/// <summary>The real protocol over a model of its members: every delivery is an explicit choice.</summary>
public sealed class RandomModelTests(ITestOutputHelper output)
{
    [Fact]
    public void I9_3_random_schedules_with_crashes_exclusions_joins_and_retries_are_strictly_serializable_exactly_once_and_converge()
    {
        int runs = 0, lost = 0;
        long operations = 0, views = 0;
        SimulationRunner.ForEachSeed(200, $"*{nameof(I9_3_random_schedules_with_crashes_exclusions_joins_and_retries_are_strictly_serializable_exactly_once_and_converge)}", DhtScenarios.Strict.Case(done: run =>
        {
            (runs, operations, views) = (runs + 1, operations + run.Work, views + run.Views);
            if (run.Lost) lost++;
        }));
        output.WriteLine($"{runs} schedules, {lost} that lost a shard, {operations} operations, {views} view changes.");
        Assert.True(lost * 20 <= runs, $"{lost} of {runs} schedules lost a shard and were not judged");
    }

    /// <summary>Rules whose absence random schedules find soon; the others have directed schedules.</summary>
    [Theory]
    [InlineData(nameof(DhtRules.FastPathEqual), nameof(AnomalyKind.RealTimeViolation), 3000)]
    [InlineData(nameof(DhtRules.FastPathQuiescent), nameof(AnomalyKind.RealTimeViolation), 3000)]
    [InlineData(nameof(DhtRules.ReadWaitsForQueue), nameof(AnomalyKind.RealTimeViolation), 6000)]
    [InlineData(nameof(DhtRules.TimeOverAll), nameof(AnomalyKind.NotSerializable), 3000)]
    [InlineData(nameof(DhtRules.CommitAdvancesClocks), nameof(AnomalyKind.NotSerializable), 3000)]
    [InlineData(nameof(DhtRules.FlushCommitsHeld), nameof(AnomalyKind.LostWrite), 3000)]
    [InlineData(nameof(DhtRules.FlushNeedsAllHolders), nameof(AnomalyKind.PartialWrite), 3000)]
    [InlineData(nameof(DhtRules.WedgeFreezes), nameof(AnomalyKind.LostWrite), 3000)]
    [InlineData(nameof(GroupRules.OldViewRefused), DhtWorld.Unsettled, 6000)]
    [InlineData(nameof(DhtRules.OutcomeTable), nameof(AnomalyKind.DuplicateElement), 3000)]
    [InlineData(nameof(DhtRules.RejectionRefusesLater), DhtWorld.Unsettled, 6000)]
    [InlineData(nameof(DhtRules.AbortNeedsRejection), DhtWorld.Unsettled, 6000)]
    [InlineData(nameof(DhtRules.SnapshotAfterDecision), DhtWorld.Diverged, 6000)]
    [InlineData(nameof(GroupRules.NoFrameBehindAGap), DhtWorld.Diverged, 6000)]
    public void A_rule_left_out_is_found(string rule, string anomaly, int most)
    {
        if (DhtScenarios.Strict.FirstWithout(rule, anomaly, most) is not { } seed) Assert.Fail($"None of {most} schedules without {rule} shows '{anomaly}'.");
        else output.WriteLine($"Seed {seed}.");
    }
}
