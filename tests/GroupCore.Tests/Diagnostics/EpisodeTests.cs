using GroupCore.Diagnostics;

namespace GroupCore.Tests.Diagnostics;

/// <summary>A condition that recurs is logged when it begins and when it is over, not each time.</summary>
public sealed class EpisodeTests
{
    private const long Second = 1_000_000_000;

    [Fact]
    public void An_episode_begins_with_the_first_case_and_is_over_after_the_quiet_time_without_another()
    {
        var episode = default(Episode);
        Assert.Equal(0, episode.Look(0, 0));
        Assert.Equal(1, episode.Look(3, 1 * Second));
        Assert.Equal(0, episode.Look(3, 2 * Second));
        Assert.Equal(0, episode.Look(10, 3 * Second));
        Assert.Equal(0, episode.Look(10, (3 * Second) + Episode.Quiet - 1));
        Assert.Equal(-1, episode.Look(10, (3 * Second) + Episode.Quiet));
        Assert.Equal(10, episode.Cases);
        Assert.Equal(0, episode.Look(10, 60 * Second));
    }

    [Fact]
    public void The_next_episode_counts_its_own_cases()
    {
        var episode = default(Episode);
        episode.Look(5, 0);
        episode.Look(5, Episode.Quiet);
        Assert.Equal(1, episode.Look(7, 2 * Episode.Quiet));
        Assert.Equal(2, episode.Cases);
        Assert.Equal(-1, episode.Look(7, 3 * Episode.Quiet));
    }
}
