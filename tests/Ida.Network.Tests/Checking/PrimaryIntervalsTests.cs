using Ida.NetworkMember;

namespace Ida.Network.Tests.Checking;

/// <summary>The checker of intervals finds two primaries, and nothing else.</summary>
public sealed class PrimaryIntervalsTests
{
    [Fact]
    public void Reads_of_an_excluded_process_that_begin_before_anybody_has_acted_without_it_are_well()
    {
        var intervals = new PrimaryIntervals([Act("a", 1, 0, 10), Act("b", 1, 0, 10), Act("a", 1, 9_000_000, 20_000_000), Act("b", 2, 8_000_000, 10_000_000)]);
        Assert.Empty(intervals.Violations);
        Assert.Equal(TimeSpan.FromMilliseconds(1), intervals.Margin);
    }

    [Fact]
    public void A_read_that_begins_after_somebody_has_acted_in_a_view_without_the_reader_shows_two_primaries()
    {
        var intervals = new PrimaryIntervals([Act("a", 1, 0, 10), Act("b", 2, 80, 100), Act("a", 1, 101, 102)]);
        Assert.Contains("began a read in view 1", Assert.Single(intervals.Violations), StringComparison.Ordinal);
    }

    /// <summary>A member of both views may read in the old one after another has acted in the new one.</summary>
    [Fact]
    public void Members_of_the_later_view_may_be_behind()
    {
        Assert.Empty(new PrimaryIntervals([Act("b", 2, 0, 10), Act("c", 1, 20, 30)]).Violations);
    }

    [Fact]
    public void Two_systems_that_act_at_one_time_are_found()
    {
        Assert.Empty(new PrimaryIntervals([Act("a", 1, 0, 10), Act("a", 1, 20, 30), Act("d", 1, 25, 50) with { System = "second" }]).Violations);
        Assert.Single(new PrimaryIntervals([Act("a", 1, 0, 10), Act("a", 1, 20, 30), Act("d", 1, 5, 15) with { System = "second" }]).Violations);
    }

    [Fact]
    public void One_number_of_two_views_is_found()
    {
        Assert.Single(new PrimaryIntervals([Act("a", 2, 0, 10) with { Members = ["a"] }, Act("b", 2, 0, 10)]).Violations);
    }

    /// <summary>View 1 has all of a, b and c; the others have no a.</summary>
    private static Act Act(string process, ulong view, long from, long to) => new(process, process, "first", view, view == 1 ? ["a", "b", "c"] : ["b", "c"], "read", from, to);
}
