using GroupCore.Transport;

namespace GroupCore.Tests.Transport;

/// <summary>What all links of a node hold together, and how much calls may take beside them.</summary>
public sealed class NodeBacklogTests
{
    private const long Millisecond = 1_000_000;
    private readonly NodeBacklog _node = new(1_000);

    [Fact]
    public void A_node_is_full_by_what_is_on_its_links()
    {
        _node.Add(999);
        Assert.False(_node.IsFull);
        _node.Add(1);
        Assert.True(_node.IsFull);
        _node.Remove(1);
        Assert.False(_node.IsFull);
    }

    /// <summary>Otherwise waiting calls could never be sent.</summary>
    [Fact]
    public void Waiting_calls_make_no_link_full()
    {
        Assert.True(_node.TryTakeForCalls(5_000));
        Assert.False(_node.IsFull);
    }

    [Fact]
    public void Calls_and_links_together_have_the_limit()
    {
        _node.Add(600);
        Assert.True(_node.TryTakeForCalls(300));
        Assert.False(_node.TryTakeForCalls(101));
        Assert.True(_node.TryTakeForCalls(100));
        Assert.Equal(400, _node.CallBytes);
        _node.ReturnOfCalls(300);
        Assert.False(_node.TryTakeForCalls(301));
        Assert.True(_node.TryTakeForCalls(300));
    }

    /// <summary>A message may be larger than the limit.</summary>
    [Fact]
    public void A_call_goes_whatever_its_size_where_no_other_waits()
    {
        _node.Add(2_000);
        Assert.True(_node.TryTakeForCalls(5_000));
        Assert.False(_node.TryTakeForCalls(1));
        _node.ReturnOfCalls(5_000);
        Assert.True(_node.TryTakeForCalls(1));
    }

    [Fact]
    public void The_time_to_room_is_between_a_millisecond_and_a_second()
    {
        _node.Add(2_000);
        Assert.Equal(TimeSpan.FromSeconds(1), _node.TimeToRoom(0));
        _node.Measure(0);
        _node.Remove(100);
        // 100 bytes in 100 ms, and 1,025 until an eighth is free.
        Assert.Equal(TimeSpan.FromSeconds(1), _node.TimeToRoom(100 * Millisecond));
        _node.Remove(1_000);
        _node.Measure(150 * Millisecond);
        Assert.Equal(TimeSpan.FromMilliseconds(1), _node.TimeToCalls(1));
        Assert.InRange(_node.TimeToRoom(150 * Millisecond).TotalMilliseconds, 1, 10);
    }
}
