using GroupCore.Groups;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>Acknowledgements of one member reach another one late. For that one nothing becomes stable, while the others go on.</summary>
public sealed class LateAcknowledgementTests
{
    private long _now = 1_000_000_000;

    private void Turn(LoopbackGroup world)
    {
        _now += 1_000_000;
        foreach (var member in world.Members) member.Turn(_now);
    }

    /// <summary>Runs turns until this many messages are delivered, for a second at most.</summary>
    private void Finish(LoopbackGroup world, long deliveries)
    {
        for (int turn = 0; turn < 1_000 && world.Delivered < deliveries; turn++) Turn(world);
        Assert.Equal(deliveries, world.Delivered);
    }

    /// <summary>Rank 1 sends, and what rank 2 says reaches rank 0 late.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(60_000)]
    public void A_member_that_stores_much_of_a_sender_acknowledges_nothing_more_of_it(int bytes)
    {
        var world = new LoopbackGroup();
        var (behind, sender) = (world.Members[0], world.Members[1]);
        behind.Late = 2;
        long cost = GroupLimits.Cost(8 + bytes), total = GroupLimits.StoredBytes * 5 / 4 / cost;
        var payload = new ReadOnlyMemory<byte>(new byte[bytes]);
        var calls = new List<Task>();
        for (int turn = 0; turn < 60; turn++)
        {
            for (long i = 0; i < total / 40 && calls.Count < total; i++) calls.Add(sender.Group.SendAsync("bytes", payload).AsTask());
            Turn(world);
        }
        // What was acknowledged before, plus a window.
        Assert.InRange(calls.Count(static call => call.IsCompletedSuccessfully), GroupLimits.AckStopBytes / cost, (GroupLimits.AckStopBytes + GroupLimits.Window) / cost);
        behind.Late = -1;
        Finish(world, 3 * total);
        Assert.Equal(0, behind.Node.Counters.Refused(RefusalReason.Unexpected));
    }

    /// <summary>Ranks 0 to 5 send ordered messages, each more than it may have unstable at rank 6. What rank 7 says reaches rank 6 late.</summary>
    [Fact]
    public void A_member_acknowledges_no_more_of_the_order_than_lets_it_take_what_the_sequencer_gives()
    {
        const int senders = 6, each = 14_000, aTurn = 500;
        var world = new LoopbackGroup(senders + 2, 2 << 20);
        var behind = world.Members[senders];
        behind.Late = senders + 1;
        for (int turn = 0; turn < 60; turn++)
        {
            for (int i = 0; i < aTurn && (turn * aTurn) + i < each; i++)
                for (int sender = 0; sender < senders; sender++) _ = world.Members[sender].Group.OrderedSendAsync("bytes", ReadOnlyMemory<byte>.Empty).AsTask();
            Turn(world);
        }
        Assert.Equal(0, behind.Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.InRange(behind.Group.Protocol.Multicast.Report(1).Order.Count, GroupLimits.OrderPositions + 1, 2 * GroupLimits.OrderPositions);
        behind.Late = -1;
        Finish(world, (senders + 2L) * senders * each);
        Assert.Equal(0, behind.Node.Counters.Refused(RefusalReason.Unexpected));
    }
}
