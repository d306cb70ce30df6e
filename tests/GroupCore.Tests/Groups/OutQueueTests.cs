using GroupCore.Groups.Calls;
using GroupCore.Groups.PointToPoint;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>Numbers of point-to-point messages wrap around. A message must not count as lost only because its number is more than half the range ahead.</summary>
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
        // Nothing was on the link this time.
        queue.OnLinkLost();
        queue.Add(0, 1);
        Assert.False(queue.AwaitsLost);
    }

    [Fact]
    public void What_is_closed_before_it_leaves_counts_in_no_share()
    {
        var queue = new OutQueue();
        var share = new PeerShare(new ViewMember(new(1, 1), new("10.0.0.1:1"), true, ""));
        uint id = queue.Add(0, 1);
        Assert.True(queue.TryClose(id, 0, out _));
        queue.Owe(id, share);
        Assert.False(share.IsUsed);
        // The same holds when unused places have been given back.
        queue.Trim();
        queue.Owe(id, share);
        Assert.False(share.IsUsed);
    }
}
