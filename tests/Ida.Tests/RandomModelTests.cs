using GroupCore.Runtime;
using Ida.Tests.Harness;

namespace Ida.Tests;

/// <summary>Ida 8.1 over the real protocol. A failing seed is replayed by its number: <c>IDA_SEED=n</c>; <c>IDA_RUNS</c> sets how many.</summary>
public sealed class RandomModelTests(ITestOutputHelper output)
{
    [Fact]
    public void I9_3_random_schedules_with_crashes_exclusions_joins_and_retries_are_strictly_serializable_exactly_once_and_converge()
    {
        ulong from = ulong.Parse(Environment.GetEnvironmentVariable("IDA_SEED") ?? "1");
        int runs = int.Parse(Environment.GetEnvironmentVariable("IDA_RUNS") ?? "200");
        int judged = 0, operations = 0, views = 0;
        long takeovers = 0, fast = 0, slow = 0;
        for (ulong seed = from; seed < from + (ulong)runs; seed++)
        {
            var run = new RandomRun(seed, calm: seed % 4 == 0);
            string? wrong = run.Run();
            Assert.True(wrong is null, $"Seed {seed}: {wrong}");
            if (!run.Depopulated) judged++;
            (operations, views) = (operations + run.Operations, views + run.ViewChanges);
            (takeovers, fast, slow) = (takeovers + run.Takeovers, fast + run.Fast, slow + run.Slow);
        }
        output.WriteLine($"{runs} schedules from seed {from}, {judged} judged, {operations} operations, {views} view changes, {fast} fast, {slow} slow, {takeovers} takeovers.");
        Assert.True(judged > runs / 2);
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
    public void A_rule_left_out_is_found(string rule, int most)
    {
        var without = Enum.Parse<Rule>(rule);
        for (ulong seed = 1; seed <= (ulong)most; seed++)
        {
            if (new RandomRun(seed, without).Run() is not { } wrong) continue;
            output.WriteLine($"Seed {seed}: {wrong.Split('\n')[0]}");
            return;
        }
        Assert.Fail($"{most} schedules without {rule} showed nothing.");
    }
}
