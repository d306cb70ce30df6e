using System.Globalization;
using GroupCore.Hosting;
using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

/// <summary>Completions are users' code. What one changes on its thread must not reach the next, which stands beside it by chance.</summary>
public sealed class CompletionBatchTests
{
    [Fact]
    public void Completions_of_a_turn_begin_in_their_order()
    {
        var ran = new List<int>();
        var batch = new CompletionBatchPool(static _ => { }, static () => { }).Rent();
        batch.Take([.. Enumerable.Range(0, 5).Select(i => new ActionCompletion(() => ran.Add(i)))]);
        batch.RunHere();
        Assert.Equal(Enumerable.Range(0, 5), ran);
    }

    [Fact]
    public void What_a_completion_makes_of_its_context_is_not_the_next_ones()
    {
        var own = new AsyncLocal<string?>();
        var place = new SynchronizationContext();
        var seen = new List<(string? Own, CultureInfo Culture, bool Suppressed, bool Placed)>();
        var spoil = new ActionCompletion(() =>
        {
            seen.Add((own.Value, CultureInfo.CurrentCulture, ExecutionContext.IsFlowSuppressed(), ReferenceEquals(SynchronizationContext.Current, place)));
            own.Value = "mine";
            CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
            SynchronizationContext.SetSynchronizationContext(place);
            ExecutionContext.SuppressFlow();
            throw new InvalidDataException("on purpose");
        });
        int told = 0;
        var pool = new CompletionBatchPool(_ => told++, static () => { });
        var culture = CultureInfo.CurrentCulture;
        var batch = pool.Rent();
        batch.Take([spoil, spoil, spoil]);
        // As the loop does.
        ExecutionContext.Run(ExecutionContext.Capture()!, _ => batch.RunHere(), null);
        Assert.Equal(3, told);
        Assert.Equal(3, seen.Count);
        Assert.All(seen, one => Assert.True(one.Own is null && ReferenceEquals(one.Culture, culture) && !one.Suppressed && !one.Placed, $"{one}"));
    }

    /// <summary>Thousands of calls are answered in one turn, turn after turn.</summary>
    [Theory]
    [InlineData(4_000)]
    [InlineData(5_000)]
    [InlineData(CompletionBatch.Kept)]
    public void Places_for_as_many_completions_as_are_kept_are_allocated_once(int count)
    {
        var pool = new CompletionBatchPool(static _ => { }, static () => { });
        var nothing = new ActionCompletion(static () => { });
        var completions = Enumerable.Repeat<ICompletion>(nothing, count).ToList();
        RunAll();
        RunAll();
        long before = GC.GetAllocatedBytesForCurrentThread();
        RunAll();
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1_000);

        void RunAll()
        {
            var batch = pool.Rent();
            batch.Take(completions);
            batch.RunHere();
        }
    }
}
