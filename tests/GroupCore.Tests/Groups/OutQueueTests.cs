using GroupCore.Groups.Peers;

namespace GroupCore.Tests.Groups;

/// <summary>Numbers of point-to-point messages go round: what was lost is not what has a number beyond half of them.</summary>
public sealed class OutQueueTests
{
    private const uint Half = 1u << 31;

    [Fact]
    public void No_message_is_of_a_lost_link_when_none_was_lost_however_many_went_before()
    {
        var queue = new OutQueue(Half + 1);
        uint id = queue.Add(0, 1);
        Assert.False(queue.AwaitsLost);
        Assert.True(queue.TryClose(id, 0, out _));
    }

    [Fact]
    public void A_lost_link_is_forgotten_when_what_was_on_it_is_handled()
    {
        var queue = new OutQueue(uint.MaxValue);
        uint[] lost = [queue.Add(0, 1), queue.Add(0, 1)];
        queue.OnLinkLost();
        uint later = queue.Add(0, 1);
        Assert.True(queue.AwaitsLost);
        Assert.True(queue.TryClose(lost[1], 0, out _));
        Assert.True(queue.AwaitsLost);
        Assert.True(queue.TryClose(lost[0], 0, out _));
        Assert.False(queue.AwaitsLost);
        Assert.True(queue.TryClose(later, 0, out _));
        // Nothing was on this one.
        queue.OnLinkLost();
        queue.Add(0, 1);
        Assert.False(queue.AwaitsLost);
    }
}
