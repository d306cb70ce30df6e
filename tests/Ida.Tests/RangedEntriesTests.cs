using Ida.Ordering;

namespace Ida.Tests;

/// <summary>A set of entries by the range in which they lie.</summary>
public sealed class RangedEntriesTests
{
    private readonly RangedEntries _set = new();

    [Fact]
    public void An_entry_is_in_the_set_once_however_often_it_is_added()
    {
        var entry = Of(3, 1);
        for (int i = 0; i < 3; i++) _set.Add(entry);
        Assert.Equal(1, _set.Count);
        Assert.True(_set.TryTake(3, out var taken));
        Assert.Same(entry, taken);
        Assert.False(_set.TryTake(3, out _));
        Assert.Equal(0, _set.Count);
    }

    [Fact]
    public void A_range_has_the_entries_that_lie_in_it_alone()
    {
        Entry[] all = [Of(0, 1), Of(3, 1), Of(3, 2), Of(255, 1)];
        foreach (var entry in all) _set.Add(entry);
        Assert.Equal([0, 3, 255], Enumerable.Range(0, EntryTable.Ranges).Where(_set.HasAny));
        Assert.Equal(all[1..3].ToHashSet(), Taken(3).ToHashSet());
        Assert.False(_set.HasAny(3));
        Assert.True(_set.HasAny(0) && _set.HasAny(255));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void An_entry_that_is_removed_leaves_the_others_in_reach(int index)
    {
        Entry[] all = [Of(9, 1), Of(9, 2), Of(9, 3)];
        foreach (var entry in all) _set.Add(entry);
        _set.Remove(all[index]);
        _set.Remove(all[index]);
        Assert.Equal(2, _set.Count);
        // Each of the others leaves from its new place.
        foreach (var entry in all) _set.Remove(entry);
        Assert.Equal(0, _set.Count);
        Assert.False(_set.HasAny(9));
    }

    [Fact]
    public void All_entries_move_to_a_list_by_range()
    {
        Entry[] all = [Of(200, 1), Of(7, 1), Of(7, 2)];
        foreach (var entry in all) _set.Add(entry);
        var list = new List<Entry>();
        _set.MoveTo(list);
        Assert.Equal([7, 7, 200], list.Select(static entry => EntryTable.RangeOf(entry.Hash)));
        Assert.Equal(0, _set.Count);
        Assert.False(_set.HasAny(7) || _set.HasAny(200));
        _set.Add(all[0]);
        Assert.True(_set.HasAny(200));
    }

    private static Entry Of(int range, byte key) => new([key], ((ulong)range << 56) + key);

    private List<Entry> Taken(int range)
    {
        var taken = new List<Entry>();
        while (_set.TryTake(range, out var entry)) taken.Add(entry);
        return taken;
    }
}
