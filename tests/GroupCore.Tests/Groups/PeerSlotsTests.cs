using GroupCore.Groups.Views;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>The slots of one peer, at most one per group. Few slots are searched, many have an index: both behave the same.</summary>
public sealed class PeerSlotsTests
{
    [Theory]
    [InlineData(0, 20)]
    [InlineData(100, 300)]
    public void A_slot_stands_for_the_group_that_was_bound_to_it_last(int others, int number)
    {
        ushort slot = (ushort)number;
        var slots = With(others);
        var binding = slots.Bind(slot, Group(1));
        Assert.Same(binding, slots[slot]);
        Assert.Same(binding, slots.Find(Group(1)));
        Assert.Same(binding, slots.Bind(slot, Group(1)));
        var other = slots.Bind(slot, Group(2));
        Assert.Same(other, slots[slot]);
        Assert.Null(slots.Find(Group(1)));
        Assert.Equal(others + 1, slots.Count);
    }

    /// <summary>The peer's earlier membership in that group is over.</summary>
    [Theory]
    [InlineData(0, 20)]
    [InlineData(100, 300)]
    public void A_group_that_is_bound_to_another_slot_leaves_the_one_before(int others, int number)
    {
        ushort slot = (ushort)number;
        var slots = With(others);
        slots.Bind(slot, Group(1));
        var now = slots.Bind((ushort)(slot + 1), Group(1));
        Assert.Null(slots[slot]);
        Assert.Same(now, slots.Find(Group(1)));
        Assert.Equal(others + 1, slots.Count);
    }

    [Theory]
    [InlineData(0, 20)]
    [InlineData(100, 300)]
    public void What_is_cleared_is_found_no_more_and_its_slot_serves_again(int others, int number)
    {
        ushort slot = (ushort)number;
        var slots = With(others);
        slots.Bind(slot, Group(1));
        slots.Clear(slot);
        slots.Clear(slot);
        slots.Clear(4_000);
        Assert.Null(slots[slot]);
        Assert.Null(slots.Find(Group(1)));
        Assert.Equal(others, slots.Count);
        Assert.Same(slots.Bind(slot, Group(2)), slots.Find(Group(2)));
    }

    [Theory]
    [InlineData(5)]
    [InlineData(100)]
    public void Groups_that_are_over_are_cleared_together(int others)
    {
        var slots = With(others);
        slots.Clear(static group => group.Number % 2 == 0);
        Assert.Equal((others + 1) / 2, slots.Count);
        for (int i = 0; i < others; i++) Assert.Equal(i % 2 == 1, slots.Find(Group((uint)i + 1_001)) is null);
    }

    [Fact]
    public void A_slot_that_was_never_bound_stands_for_nothing()
    {
        Assert.Null(new PeerSlots()[7]);
        Assert.Null(With(10)[ushort.MaxValue]);
    }

    private static GroupId Group(uint number) => new(number, 1);

    private static PeerSlots With(int others)
    {
        var slots = new PeerSlots();
        for (ushort i = 0; i < others; i++) slots.Bind((ushort)(i + 1), Group(1_001u + i));
        return slots;
    }
}
