using Ida.Coordination;

namespace Ida.Tests;

/// <summary>Operations that have given back their share, counted by the member that they wait for.</summary>
public sealed class ParkedOperationsTests
{
    private readonly ParkedOperations _parked = new();

    [Fact]
    public void Operations_count_until_they_go()
    {
        var (one, other) = (Add(10, rank: 2), Add(5, rank: 0));
        Assert.Equal((2, 15L), (_parked.Count, _parked.Bytes));
        Assert.Equal((2, 0), (one.Awaits, other.Awaits));
        _parked.Remove(one);
        Assert.Equal((1, 5L), (_parked.Count, _parked.Bytes));
        Assert.Equal(-1, one.Awaits);
        _parked.Remove(other);
        Assert.Equal((0, 0L), (_parked.Count, _parked.Bytes));
    }

    /// <summary>Otherwise others would be refused because of it, or it because of them.</summary>
    [Fact]
    public void One_operation_that_is_large_by_itself_counts_no_bytes_and_others_do()
    {
        var large = Add(1_000, rank: 1, large: true);
        Assert.True(_parked.HasLarge);
        var second = Add(900, rank: 1, large: true);
        Assert.Equal((2, 900L), (_parked.Count, _parked.Bytes));
        _parked.Remove(second);
        Assert.True(_parked.HasLarge);
        _parked.Remove(large);
        Assert.False(_parked.HasLarge);
        Assert.Equal((0, 0L), (_parked.Count, _parked.Bytes));
    }

    [Theory]
    [InlineData(75, false)]
    [InlineData(76, true)]
    public void An_operation_is_large_when_alone_it_takes_more_than_three_quarters(long bytes, bool large) => Assert.Equal(large, ParkedOperations.IsLarge(bytes, 100));

    [Fact]
    public void Operations_that_wait_for_one_member_may_take_three_times_what_they_leave()
    {
        for (int i = 0; i < 5; i++) Add(10, rank: 3);
        Assert.True(_parked.LeavesEnough(3, 10, opsLeft: 2, bytesLeft: 20));
        Assert.False(_parked.LeavesEnough(3, 10, opsLeft: 1, bytesLeft: 20));
        Assert.False(_parked.LeavesEnough(3, 11, opsLeft: 2, bytesLeft: 20));
        // Nothing waits for other members.
        Assert.True(_parked.LeavesEnough(2, 10, opsLeft: 1, bytesLeft: 20));
        Assert.True(_parked.LeavesEnough(1_000, 60, opsLeft: 1, bytesLeft: 20));
    }

    [Fact]
    public void An_operation_counts_for_the_member_for_which_it_waits_now()
    {
        var one = Add(10, rank: 3);
        Assert.False(_parked.LeavesEnough(3, 0, opsLeft: 0, bytesLeft: 3));
        _parked.Attribute(one, 5);
        Assert.Equal(5, one.Awaits);
        Assert.True(_parked.LeavesEnough(3, 9, opsLeft: 1, bytesLeft: 3));
        Assert.False(_parked.LeavesEnough(5, 0, opsLeft: 1, bytesLeft: 3));
        _parked.Attribute(one, -1);
        Assert.True(_parked.LeavesEnough(5, 9, opsLeft: 1, bytesLeft: 3));
        Assert.Equal(1, _parked.Count);
        _parked.Remove(one);
        Assert.Equal((0, 0L), (_parked.Count, _parked.Bytes));
    }

    private IdleOperation Add(long charge, int rank, bool large = false)
    {
        var op = IdleOperation.Put(charge);
        _parked.Add(op, rank, large);
        return op;
    }
}
