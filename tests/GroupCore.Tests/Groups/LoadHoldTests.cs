using GroupCore.Groups;
using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

/// <summary>What a member holds of a view while it loads the group's state (state-transfer.md#limits).</summary>
public sealed class LoadHoldTests
{
    private const long Budget = 10 << 10;
    private readonly LoadBudget _budget = new(Budget);

    [Fact]
    public void Up_to_the_budget_acknowledgements_go_out_and_beyond_it_they_wait()
    {
        var hold = new LoadHold(_budget, 2);
        for (int i = 0; i < 10; i++)
        {
            Assert.False(hold.StopsAcks);
            hold.Add(i % 2, 1);
        }
        Assert.True(hold.StopsAcks);
        Assert.Equal(10, hold.Messages);
    }

    /// <summary>The load of a state may take longer than a view lasts.</summary>
    [Fact]
    public void The_budget_is_for_all_views_of_the_load()
    {
        new LoadHold(_budget, 2).Add(0, (int)Budget);
        Assert.True(new LoadHold(_budget, 2).StopsAcks);
    }

    [Fact]
    public void A_sender_has_no_more_than_its_windows_until_it_is_acknowledged()
    {
        var hold = new LoadHold(_budget, 2);
        hold.Add(0, (int)GroupLimits.StoredBytes - 1);
        Assert.False(hold.IsFull(0));
        hold.Add(0, 1);
        Assert.True(hold.IsFull(0));
        Assert.False(hold.IsFull(1));
        hold.Acknowledge(0);
        Assert.False(hold.IsFull(0));
        Assert.True(hold.StopsAcks);
    }
}
