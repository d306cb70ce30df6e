namespace GroupCore.Tests.Groups;

/// <summary>A member lacks a frame although no link has told of a fault: multicast.md#a-gap-asks-for-a-view.</summary>
public sealed class GapTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_a_member_lacks_comes_by_the_view_that_it_asks_for_when_the_next_frame_is_here(bool ordered)
    {
        var world = new LoopbackGroup();
        var (sequencer, sender, other) = (world.Members[0], world.Members[1], world.Members[2]);
        Send();
        sender.Turn(0);
        if (ordered)
        {
            // It has the message and loses the position.
            other.Turn(0);
            sequencer.Turn(0);
        }
        other.Lose();
        Send();
        world.Run();
        Assert.Equal((6, 2ul), (world.Delivered, other.Group.CurrentView.Id));

        void Send() => world.Await(ordered ? sender.Group.OrderedSendAsync("bytes", ReadOnlyMemory<byte>.Empty) : sender.Group.SendAsync("bytes", ReadOnlyMemory<byte>.Empty));
    }
}
