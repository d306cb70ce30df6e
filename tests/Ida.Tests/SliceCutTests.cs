using Ida.Ordering;

namespace Ida.Tests;

/// <summary>A slice at one moment, copied over several turns while operations go on. The table here belongs to no participant, so nothing else changes it.</summary>
public sealed class SliceCutTests
{
    private readonly HarnessMember _member = DhtWorld.Founded(4).Members[1];
    private readonly EntryTable _table = new();
    private readonly SliceCut _cut;

    public SliceCutTests() => _cut = new(_table, _member.Host.Current!.State);

    [Fact]
    public void A_cut_tells_where_and_when_it_was_taken()
    {
        Finish();
        var (slice, state) = (LocalSlice.From(_cut), _member.Host.Current!.State);
        Assert.Equal((state.View, state.Shard, state.Slot, true), (slice.View, slice.Shard, slice.Slot, slice.IsInitialised));
        Assert.Empty(slice.Entries);
    }

    [Fact]
    public void A_turn_copies_a_bounded_number_of_entries_and_the_range_that_reaches_it()
    {
        const int Entries = 20_000;
        for (int i = 0; i < Entries; i++) Put(i);
        int turns = 1;
        while (!_cut.CopyOn(_member.Host.Current!.Participant.Slice)) turns++;
        Assert.InRange(turns, Entries / SliceCut.EntriesPerTurn, (Entries / SliceCut.EntriesPerTurn) + 1);
        Assert.Equal(Entries, LocalSlice.From(_cut).Entries.Count);
    }

    [Fact]
    public void A_cut_has_what_entries_held_when_it_was_taken()
    {
        var (changed, removed, added, same) = (Put(1), Put(2), Put(3), Put(4));
        (added.Value, added.Version) = (null, 0);
        Change(changed, [99], 9);
        Change(removed, null, 0);
        Change(added, [99], 9);
        Change(changed, null, 0);
        Finish();
        Assert.Equal(new[] { changed, removed, same }.OrderBy(static entry => entry.Hash).Select(static entry => Convert.ToHexString(entry.Key)),
            LocalSlice.From(_cut).Entries.Select(static entry => Convert.ToHexString(entry.Key.Span)));
        Assert.All(LocalSlice.From(_cut).Entries, static entry => Assert.Equal((1UL, true), (entry.Version, entry.Value.Span.SequenceEqual(entry.Key.Span))));
    }

    [Fact]
    public void A_cut_needs_a_removed_entry_until_that_is_copied()
    {
        var (removed, added) = (Put(1), Put(2));
        (added.Value, added.Version) = (null, 0);
        Change(removed, null, 0);
        Change(added, [99], 9);
        Change(added, null, 0);
        Assert.True(_cut.Needs(removed));
        Assert.False(_cut.Needs(added));
        Finish();
        Assert.False(_cut.Needs(removed));
    }

    [Fact]
    public void What_changes_after_it_was_copied_is_not_kept()
    {
        var entry = Put(1);
        Finish();
        Change(entry, null, 0);
        Assert.False(_cut.Needs(entry));
        Assert.Single(LocalSlice.From(_cut).Entries);
    }

    /// <summary>The key may come back, with another entry.</summary>
    [Fact]
    public void An_entry_that_is_gone_is_kept_no_more()
    {
        var entry = Put(1);
        Change(entry, null, 0);
        _cut.Forget(entry);
        Assert.False(_cut.Needs(entry));
    }

    [Fact]
    public void All_callers_get_one_slice()
    {
        Put(1);
        Finish();
        Assert.Same(LocalSlice.From(_cut), LocalSlice.From(_cut));
    }

    /// <summary>Replicas hold the same entries in tables that grew in different ways.</summary>
    [Fact]
    public void Equal_entries_give_equal_slices_whatever_the_order_in_which_they_came()
    {
        for (int i = 0; i < 1_000; i++) Put(i);
        Finish();
        var other = new EntryTable();
        for (int i = 1_999; i >= 0; i--) Put(i, other);
        for (int i = 1_000; i < 2_000; i++) other.Remove(other.Find(Key(i), StableHash.Of(Key(i)))!);
        var cut = new SliceCut(other, _member.Host.Current!.State);
        while (!cut.CopyOn(_member.Host.Current!.Participant.Slice)) continue;
        var (one, two) = (LocalSlice.From(_cut), LocalSlice.From(cut));
        Assert.Equal(one.Digest, two.Digest);
        Assert.Equal(one.Entries.Select(static entry => Convert.ToHexString(entry.Key.Span)), two.Entries.Select(static entry => Convert.ToHexString(entry.Key.Span)));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_digest_tells_versions_and_values_apart(bool version)
    {
        Put(1);
        Finish();
        var other = new EntryTable();
        var entry = Put(1, other);
        if (version) entry.Version = 2;
        else entry.Value = [1, 2];
        var cut = new SliceCut(other, _member.Host.Current!.State);
        while (!cut.CopyOn(_member.Host.Current!.Participant.Slice)) continue;
        Assert.NotEqual(LocalSlice.From(_cut).Digest, LocalSlice.From(cut).Digest);
    }

    private static byte[] Key(int number) => BitConverter.GetBytes(number);

    private static Entry Put(int number, EntryTable table)
    {
        var entry = table.FindOrAdd(Key(number), StableHash.Of(Key(number)), 1);
        (entry.Value, entry.Version) = (Key(number), 1);
        return entry;
    }

    private Entry Put(int number) => Put(number, _table);

    private void Change(Entry entry, byte[]? value, ulong version)
    {
        _cut.BeforeChange(entry);
        (entry.Value, entry.Version) = (value, version);
    }

    private void Finish()
    {
        while (!_cut.CopyOn(_member.Host.Current!.Participant.Slice)) continue;
    }
}
