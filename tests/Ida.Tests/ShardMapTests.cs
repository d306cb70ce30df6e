using Ida.Placement;

namespace Ida.Tests;

/// <summary>Slots, shards and ranks of one view (dht-order.md#keys-and-placement).</summary>
public sealed class ShardMapTests
{
    /// <summary>Two shards and six slots, the fourth of which is a hole. The member of slot 0 has rank 5, and rank 0 has no slot.</summary>
    private readonly ShardMap _map = new([Slot(5), Slot(4), Slot(3, initialised: false), SlotState.Hole, Slot(2), Slot(1)], 2, FlatView.Of(6));

    [Fact]
    public void A_slot_belongs_to_the_shard_of_its_number_and_a_hash_to_that_of_its_rest()
    {
        Assert.Equal([0, 1, 0, 1], new[] { 0, 1, 2, 3 }.Select(_map.ShardOfSlot));
        Assert.Equal((1, 0), (_map.ShardOf(7), _map.ShardOf(ulong.MaxValue - 1)));
        Assert.Equal((2, 6), (_map.Shards, _map.SlotCount));
    }

    [Fact]
    public void A_shard_has_its_slots_that_are_taken_and_their_ranks_in_the_same_order()
    {
        Assert.Equal(new ushort[] { 0, 2, 4 }, _map.Members(0).ToArray());
        Assert.Equal([5, 3, 2], _map.Ranks(0).ToArray());
        Assert.Equal(new ushort[] { 1, 5 }, _map.Members(1).ToArray());
        Assert.Equal([4, 1], _map.Ranks(1).ToArray());
    }

    [Fact]
    public void Slots_and_ranks_name_each_other_and_nobody_else()
    {
        Assert.Equal([5, 4, 3, -1, 2, 1], Enumerable.Range(0, 6).Select(_map.RankOfSlot));
        Assert.Equal([-1, 5, 4, 2, 1, 0], Enumerable.Range(0, 6).Select(_map.SlotOfRank));
        foreach (int none in (int[])[-1, 6, int.MaxValue, int.MinValue]) Assert.Equal((-1, -1), (_map.RankOfSlot(none), _map.SlotOfRank(none)));
    }

    [Fact]
    public void The_source_of_a_shard_is_its_lowest_slot_with_the_state()
    {
        Assert.Equal((0, 1), (_map.Source(0), _map.Source(1)));
        var late = new ShardMap([Slot(0, initialised: false), Slot(1), Slot(2), Slot(3)], 2, FlatView.Of(4));
        Assert.Equal(2, late.Source(0));
        late.SetInitialised(0);
        Assert.Equal(0, late.Source(0));
    }

    [Fact]
    public void Reads_are_spread_over_those_that_have_the_state()
    {
        Assert.Equal([0, 4, 4, 0], new uint[] { 0, 1, 2, 3 }.Select(spread => _map.Representative(0, spread)));
        _map.SetInitialised(2);
        Assert.Equal([0, 2, 4, 0], new uint[] { 0, 1, 2, 3 }.Select(spread => _map.Representative(0, spread)));
        Assert.InRange(_map.Representative(0, uint.MaxValue), 0, 4);
    }

    [Fact]
    public void A_shard_without_the_state_has_neither_source_nor_representative()
    {
        var map = new ShardMap([Slot(0), Slot(1, initialised: false)], 2, FlatView.Of(2));
        Assert.Equal((-1, -1), (map.Source(1), map.Representative(1, 7)));
    }

    private static SlotState Slot(int rank, bool initialised = true) => new(FlatView.Id(rank), initialised);
}
