using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport;

/// <summary>How much bulk may wait on one link (links.md#bulk-asks-for-room-control-does-not); how the budget follows the link's speed is in <see cref="RoomTests"/>.</summary>
public sealed class BulkBudgetTests
{
    private BulkBudget _budget = new();

    [Fact]
    public void A_frame_for_several_may_take_half_of_the_budget_beyond_what_others_queued()
    {
        int bytes = _budget.Bytes;
        _budget.Room(bytes);
        Assert.True(_budget.MayExceed(bytes + (bytes / 2) - 1));
        Assert.False(_budget.MayExceed(bytes + (bytes / 2)));
    }

    /// <summary>The last frame of the others may have been larger than the room that was left.</summary>
    [Fact]
    public void What_others_queued_beyond_the_budget_does_not_count_against_it()
    {
        int bytes = _budget.Bytes;
        _budget.Room(2 * bytes);
        Assert.True(_budget.MayExceed((2 * bytes) + (bytes / 2) - 1));
        Assert.False(_budget.MayExceed((2 * bytes) + (bytes / 2)));
    }

    [Fact]
    public void While_the_node_is_full_no_link_has_room_and_each_hears_of_it_afterwards()
    {
        _budget.Close();
        Assert.True(_budget.IsShort);
        Assert.Equal(0, _budget.Room(0));
        Assert.True(_budget.TryReopen(0));
        Assert.Equal(_budget.Bytes, _budget.Room(0));
    }

    [Fact]
    public void Only_an_acknowledgement_of_all_that_was_queued_then_is_a_sample()
    {
        int bytes = _budget.Bytes;
        _budget.OnWrite(100, bytes, 0);
        _budget.OnAcknowledged(99, 10 * BulkBudget.MostDelay);
        Assert.Equal(bytes, _budget.Bytes);
        _budget.OnAcknowledged(100, 2 * BulkBudget.MostDelay);
        Assert.Equal(bytes / 2, _budget.Bytes);
    }

    [Fact]
    public void A_sample_is_from_the_write_that_began_it()
    {
        int bytes = _budget.Bytes;
        _budget.OnWrite(100, bytes, 0);
        _budget.OnWrite(200, 2 * bytes, BulkBudget.MostDelay);
        _budget.OnAcknowledged(200, 2 * BulkBudget.MostDelay);
        Assert.Equal(bytes / 2, _budget.Bytes);
    }

    [Fact]
    public void A_connection_that_is_gone_tells_nothing_of_the_next()
    {
        int bytes = _budget.Bytes;
        _budget.OnWrite(100, bytes, 0);
        _budget.Forget();
        _budget.OnAcknowledged(100, 100 * BulkBudget.MostDelay);
        Assert.Equal(bytes, _budget.Bytes);
    }

    /// <summary>Otherwise the budget stopped no sender, and with more of it frames would only wait longer.</summary>
    [Theory]
    [InlineData(false, 2)]
    [InlineData(true, 3)]
    public void The_budget_grows_only_where_somebody_waited_and_half_of_it_was_queued(bool waited, int part)
    {
        int bytes = _budget.Bytes;
        if (waited) _budget.Room(bytes);
        _budget.OnWrite(100, bytes / part, 0);
        _budget.OnAcknowledged(100, 1);
        Assert.Equal(bytes, _budget.Bytes);
    }

    [Fact]
    public void However_slow_a_link_is_it_has_the_least_budget()
    {
        _budget.OnWrite(100, 1_000, 0);
        _budget.OnAcknowledged(100, 1_000 * BulkBudget.MostDelay);
        Assert.Equal(LinkLimits.LeastBulkBytes, _budget.Bytes);
    }
}
