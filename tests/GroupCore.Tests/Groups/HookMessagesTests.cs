using GroupCore.Groups;
using GroupCore.Groups.PointToPoint;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>Messages of hooks that came before this member heard of the proposal (views-and-flush.md#a-hook-has-two-seconds-of-each-proposal).</summary>
public sealed class HookMessagesTests
{
    private readonly INode _node = new LogBus().Add(1);
    private readonly HookMessages _messages;

    public HookMessagesTests() => _messages = new(_node, 3);

    [Fact]
    public void Messages_are_taken_once_in_the_order_in_which_they_came_and_with_bytes_of_their_own()
    {
        Assert.Empty(_messages.Take());
        byte[] frame = [1, 2];
        _messages.Hold(2, frame);
        frame[0] = 9;
        _messages.Hold(0, frame);
        Assert.Equal(["2: 0102", "0: 0902"], _messages.Take().Select(static message => $"{message.Rank}: {Convert.ToHexString(message.Body)}"));
        Assert.Empty(_messages.Take());
    }

    /// <summary>Hooks send within the window of a receiver like any other code.</summary>
    [Fact]
    public void What_a_member_sends_beyond_its_window_is_refused_and_others_are_not()
    {
        byte[] large = new byte[1 << 20];
        for (int i = 0; i < GroupLimits.EarlyBytesOfMember >> 20; i++) _messages.Hold(1, large);
        Assert.Equal(0, _node.Counters.Refused(RefusalReason.Unexpected));
        _messages.Hold(1, []);
        Assert.Equal(1, _node.Counters.Refused(RefusalReason.Unexpected));
        _messages.Hold(0, []);
        Assert.Equal(17, _messages.Take().Length);
        // Messages that were taken no longer count.
        _messages.Hold(1, []);
        Assert.Single(_messages.Take());
    }

    [Fact]
    public void A_message_without_bytes_takes_its_part_too()
    {
        for (long i = 0; i < GroupLimits.EarlyBytesOfMember / GroupLimits.Cost(0); i++) _messages.Hold(1, []);
        Assert.Equal(0, _node.Counters.Refused(RefusalReason.Unexpected));
        _messages.Hold(1, []);
        Assert.Equal(1, _node.Counters.Refused(RefusalReason.Unexpected));
    }
}
