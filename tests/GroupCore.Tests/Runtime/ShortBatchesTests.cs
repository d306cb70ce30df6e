using GroupCore.Hosting;

namespace GroupCore.Tests.Runtime;

/// <summary>When the second thread of a loop is called to each batch of completions, and when it only watches.</summary>
public sealed class ShortBatchesTests
{
    private const long Short = ShortBatches.LongNanoseconds - 1, Long = ShortBatches.LongNanoseconds;

    [Fact]
    public void Short_batches_are_usual_after_a_streak_of_them()
    {
        var batches = After(Short, ShortBatches.Streak - 1);
        Assert.False(batches.AreUsual);
        batches.Add(Short);
        Assert.True(batches.AreUsual);
    }

    [Fact]
    public void A_long_batch_is_forgiven_among_as_many_short_ones()
    {
        var batches = After(Short, 10 * ShortBatches.Streak);
        for (int i = 0; i < 5; i++)
        {
            batches.Add(Long);
            Assert.True(batches.AreUsual);
            for (int n = 0; n < ShortBatches.Streak; n++) batches.Add(Short);
        }
    }

    [Fact]
    public void Two_long_batches_close_together_are_not_forgiven()
    {
        var batches = After(Short, 10 * ShortBatches.Streak);
        batches.Add(Long);
        for (int n = 0; n < ShortBatches.Streak - 1; n++) batches.Add(Short);
        batches.Add(Long);
        Assert.False(batches.AreUsual);
        batches.Add(Short);
        Assert.True(batches.AreUsual);
    }

    [Fact]
    public void Short_batches_need_a_whole_streak_again_where_all_were_long()
    {
        var batches = After(Short, 10 * ShortBatches.Streak);
        for (int n = 0; n < 10; n++) batches.Add(Long);
        for (int n = 0; n < ShortBatches.Streak - 1; n++)
        {
            batches.Add(Short);
            Assert.False(batches.AreUsual);
        }
        batches.Add(Short);
        Assert.True(batches.AreUsual);
    }

    private static ShortBatches After(long nanoseconds, int count)
    {
        var batches = default(ShortBatches);
        for (int i = 0; i < count; i++) batches.Add(nanoseconds);
        return batches;
    }
}
