using GroupCore.Groups.PointToPoint;

namespace GroupCore.Tests.Groups;

/// <summary>Messages that wait for room, by receiver.</summary>
public sealed class RoomQueuesTests
{
    private readonly RoomQueues<string> _queues = new(3);

    [Fact]
    public void Messages_to_one_receiver_hold_up_no_others_and_keep_their_order()
    {
        foreach (string message in (string[])["a1", "a2", "c1"]) _queues.Add(message[0] - 'a', message);
        Assert.Equal((3, 2, 0, 1), (_queues.Count, _queues.CountOf(0), _queues.CountOf(1), _queues.CountOf(2)));
        Assert.True(_queues.TryPeek(2, out string? next));
        Assert.Equal("c1", next);
        Assert.Equal(["c1"], Dequeued(2));
        Assert.Equal(["a1", "a2"], Dequeued(0));
        Assert.Empty(Dequeued(1));
        Assert.Equal(0, _queues.Count);
    }

    [Fact]
    public void What_went_out_after_a_wait_is_counted_for_each_receiver()
    {
        Assert.Equal(0, _queues.SentTo(2));
        for (int i = 0; i < 3; i++) _queues.Add(2, $"{i}");
        Dequeued(2);
        _queues.Trim();
        Assert.Equal((3L, 0L), (_queues.SentTo(2), _queues.SentTo(1)));
        _queues.Add(2, "more");
        Dequeued(2);
        Assert.Equal(4, _queues.SentTo(2));
    }

    [Fact]
    public void All_are_taken_when_none_goes_out_any_more()
    {
        foreach (string message in (string[])["c1", "a1", "c2"]) _queues.Add(message[0] - 'a', message);
        Assert.Equal(["a1", "c1", "c2"], _queues.TakeAll().ToList());
        Assert.Equal(0, _queues.Count);
        Assert.False(_queues.TryPeek(0, out _));
    }

    [Fact]
    public void Memory_is_released_only_when_nothing_waits()
    {
        _queues.Add(1, "b1");
        _queues.Trim();
        Assert.Equal(["b1"], Dequeued(1));
    }

    private List<string> Dequeued(int rank)
    {
        var all = new List<string>();
        while (_queues.TryDequeue(rank, out string? next)) all.Add(next);
        return all;
    }
}
