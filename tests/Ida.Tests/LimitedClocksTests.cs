using Ida.Ordering;

namespace Ida.Tests;

/// <summary>After a view change the clocks of all entries are cut, over many turns (dht-view-change.md#no-single-word-moves-the-clocks).</summary>
public sealed class LimitedClocksTests
{
    private const ulong Most = 50;
    private readonly EntryTable _table = new();

    [Fact]
    public void An_entry_is_cut_when_it_is_asked_for()
    {
        var entry = Add(1, clock: 100);
        _table.LimitClocks(Most);
        Assert.Same(entry, Add(1, clock: 7));
        Assert.Equal(Most, entry.Clock);
    }

    [Fact]
    public void A_clock_is_not_cut_below_the_version_and_never_raised()
    {
        var (version, low) = (Add(1, clock: 100), Add(2, clock: 9));
        version.Version = 80;
        _table.LimitClocks(Most);
        Finish();
        Assert.Equal((80UL, 9UL), (version.Clock, low.Clock));
    }

    [Fact]
    public void The_other_entries_are_cut_bit_by_bit()
    {
        var all = Enumerable.Range(0, 5_000).Select(number => Add(number, clock: 100)).ToList();
        _table.LimitClocks(Most);
        int cut = 0, turns = 0;
        while (_table.IsLimiting)
        {
            _table.LimitSome(100);
            int now = all.Count(static entry => entry.Clock == Most);
            Assert.InRange(now - cut, 0, 400);
            (cut, turns) = (now, turns + 1);
        }
        Assert.Equal(all.Count, cut);
        Assert.InRange(turns, 10, _table.Buckets);
    }

    /// <summary>A proposal has made the entry since, within the new limit.</summary>
    [Fact]
    public void An_entry_that_comes_after_the_limit_is_not_cut()
    {
        _table.LimitClocks(Most);
        var late = Add(1, clock: 100);
        Finish();
        Assert.Equal(100UL, late.Clock);
    }

    [Fact]
    public void An_entry_is_cut_once_for_each_limit()
    {
        var entry = Add(1, clock: 100);
        _table.LimitClocks(Most);
        _table.Limit(entry);
        entry.Clock = 90;
        Finish();
        Assert.Equal(90UL, entry.Clock);
        _table.LimitClocks(Most);
        Finish();
        Assert.Equal(Most, entry.Clock);
    }

    [Fact]
    public void A_table_that_grows_meanwhile_is_cut_as_a_whole()
    {
        var all = Enumerable.Range(0, 2_000).Select(number => Add(number, clock: 100)).ToList();
        _table.LimitClocks(Most);
        for (int more = 2_000; _table.IsLimiting; more++)
        {
            _table.LimitSome(3);
            if (more < 20_000) Add(more, clock: 7);
        }
        Assert.All(all, static entry => Assert.Equal(Most, entry.Clock));
    }

    /// <summary>The numbers of limits wrap around: an entry that no limit reached would pass for one that the next limit had cut.</summary>
    [Fact]
    public void Limits_that_begin_before_the_last_is_over_reach_all_entries_in_the_end()
    {
        // One entry in each range, so that all ranges have as many buckets.
        var all = Enumerable.Range(0, EntryTable.Ranges).Select(range => _table.FindOrAdd(BitConverter.GetBytes(range), (ulong)range << 56, 1_000_000)).ToList();
        for (ulong limit = 1; limit <= 300; limit++)
        {
            _table.LimitClocks(1_000 - limit);
            _table.LimitSome(2 * _table.Buckets / EntryTable.Ranges);
            Assert.True(_table.IsLimiting);
        }
        Assert.All(all, static entry => Assert.InRange(entry.Clock, 1UL, 999UL));
    }

    private Entry Add(int number, ulong clock)
    {
        byte[] key = BitConverter.GetBytes(number);
        return _table.FindOrAdd(key, StableHash.Of(key), clock);
    }

    private void Finish()
    {
        while (_table.IsLimiting) _table.LimitSome(1_000);
    }
}
