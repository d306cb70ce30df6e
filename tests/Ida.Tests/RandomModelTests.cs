using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Tests;

/// <summary>Ida 8.1 over the real protocol.</summary>
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
        Assert.True(lost * 2 <= runs, $"{lost} of {runs} schedules lost a shard and were not judged");
    }

    /// <summary>Rules whose absence random schedules find soon; the others have directed schedules.</summary>
    [Theory]
    [InlineData(nameof(Rule.FastPathEqual), 3000)]
    [InlineData(nameof(Rule.FastPathClear), 3000)]
    [InlineData(nameof(Rule.ReadWaitsForQueue), 6000)]
    [InlineData(nameof(Rule.TimeOverAll), 3000)]
    [InlineData(nameof(Rule.CommitAdvancesClocks), 3000)]
    [InlineData(nameof(Rule.FlushCommitsHeld), 3000)]
    [InlineData(nameof(Rule.FlushNeedsAllHolders), 3000)]
    [InlineData(nameof(Rule.WedgeFreezes), 3000)]
    [InlineData(nameof(Rule.OldViewRefused), 6000)]
    [InlineData(nameof(Rule.OutcomeTable), 3000)]
    [InlineData(nameof(Rule.PoisonRefusesLater), 6000)]
    [InlineData(nameof(Rule.AbortNeedsPoison), 6000)]
    [InlineData(nameof(Rule.SnapshotAfterDecision), 6000)]
    [InlineData(nameof(Rule.NoFrameBehindAGap), 6000)]
    public void A_rule_left_out_is_found(string rule, int most)
    {
        if (DhtScenarios.Strict.FirstWithout(Enum.Parse<Rule>(rule), most) is not var (seed, violation)) Assert.Fail($"{most} schedules without {rule} showed nothing.");
        else output.WriteLine($"Seed {seed}: {violation.Message.Split('\n')[0]}");
    }
}
