using GroupCore.Groups;
using GroupCore.Groups.Flush;

namespace GroupCore.Tests.Groups;

/// <summary>When something that a view flush waits for stands still (views-and-flush.md#silence-is-suspected-user-code-is-not).</summary>
public sealed class StandstillTests
{
    private const long Step = GroupLimits.FlushStepNanoseconds, Silence = GroupLimits.FlushSilenceNanoseconds;
    private Progress _progress;

    [Fact]
    public void What_never_moves_stands_still_a_step_after_the_first_look()
    {
        Assert.False(_progress.StandsStill(7, 100));
        Assert.False(_progress.StandsStill(7, 99 + Step));
        Assert.True(_progress.StandsStill(7, 100 + Step));
    }

    /// <summary>A frame may take long on a slow link.</summary>
    [Fact]
    public void What_has_moved_may_take_longer_for_its_next_move()
    {
        _progress.StandsStill(7, 0);
        Assert.False(_progress.StandsStill(8, Step));
        Assert.False(_progress.StandsStill(8, Step + Silence - 1));
        Assert.True(_progress.StandsStill(8, Step + Silence));
    }

    [Fact]
    public void Each_move_counts_from_its_own_time_whichever_way_it_goes()
    {
        _progress.StandsStill(7, 0);
        for (int i = 1; i < 10; i++) Assert.False(_progress.StandsStill(i % 2, i * (Silence - 1)));
    }
}
