using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Checking;

namespace Ida.Tests;

/// <summary>The real protocol over a model of its members: every delivery is an explicit choice.</summary>
public sealed class RandomModelTests(ITestOutputHelper output)
{
    // What is told of calls that never end, and of replicas that differ.
    private const string Unsettled = " did not happen in ", Diverged = "Shard ";

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
    [InlineData(nameof(Rule.FastPathEqual), nameof(AnomalyKind.RealTimeViolation), 3000)]
    [InlineData(nameof(Rule.FastPathQuiescent), nameof(AnomalyKind.RealTimeViolation), 3000)]
    [InlineData(nameof(Rule.ReadWaitsForQueue), nameof(AnomalyKind.RealTimeViolation), 6000)]
    [InlineData(nameof(Rule.TimeOverAll), nameof(AnomalyKind.NotSerializable), 3000)]
    [InlineData(nameof(Rule.CommitAdvancesClocks), nameof(AnomalyKind.NotSerializable), 3000)]
    [InlineData(nameof(Rule.FlushCommitsHeld), nameof(AnomalyKind.LostWrite), 3000)]
    [InlineData(nameof(Rule.FlushNeedsAllHolders), nameof(AnomalyKind.PartialWrite), 3000)]
    [InlineData(nameof(Rule.WedgeFreezes), nameof(AnomalyKind.LostWrite), 3000)]
    [InlineData(nameof(Rule.OldViewRefused), Unsettled, 6000)]
    [InlineData(nameof(Rule.OutcomeTable), nameof(AnomalyKind.DuplicateElement), 3000)]
    [InlineData(nameof(Rule.RejectionRefusesLater), Unsettled, 6000)]
    [InlineData(nameof(Rule.AbortNeedsRejection), Unsettled, 6000)]
    [InlineData(nameof(Rule.SnapshotAfterDecision), Diverged, 6000)]
    [InlineData(nameof(Rule.NoFrameBehindAGap), Diverged, 6000)]
    public void A_rule_left_out_is_found(string rule, string anomaly, int most)
    {
        if (DhtScenarios.Strict.FirstWithout(Enum.Parse<Rule>(rule), anomaly, most) is not { } seed) Assert.Fail($"None of {most} schedules without {rule} shows '{anomaly}'.");
        else output.WriteLine($"Seed {seed}.");
    }
}
