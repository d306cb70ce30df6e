using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>A sequencer lies about the order of one sender's messages: all members deliver the same, and no call waits for ever.</summary>
public sealed class PassedOverTests
{
    [Theory]
    [InlineData(100)]
    [InlineData(100_000)]
    public void Positions_that_go_back_in_a_senders_messages_are_refused_and_the_calls_of_what_was_passed_over_end(int bytes)
    {
        var world = new LoopbackGroup();
        // Rank 0 has no turn any more: the others get from it only what the test says.
        var (sender, other) = (world.Members[1], world.Members[2]);
        uint first = sender.Group.Protocol.Multicast.ReceivedOf(1), parts = (uint)(bytes + GroupLimits.FragmentBytes - 1) / GroupLimits.FragmentBytes;
        var calls = Enumerable.Range(0, 4).Select(_ => sender.Group.OrderedSendAsync("bytes", new ReadOnlyMemory<byte>(new byte[bytes])).AsTask()).ToArray();
        sender.Turn(0);
        other.Turn(0);
        byte[] order = Order(1, 0, 1, 2);
        foreach (var member in new[] { sender, other })
        {
            var group = member.Group.Protocol;
            group.Post(new CallCommand(() =>
            {
                group.Touch();
                group.Multicast.OnOrder(0, order, wedged: false);
            }));
            for (int turn = 0; turn < 3; turn++) member.Turn(0);
            Assert.Equal(2, member.Node.Counters.Refused(RefusalReason.Unexpected));
        }
        Assert.Equal(4, world.Delivered);
        Assert.Contains("gave the message no position", Assert.IsType<NotMemberException>(calls[0].Exception?.InnerException).Message, StringComparison.Ordinal);
        Assert.Equal([false, true, true, false], calls.Select(call => call.IsCompletedSuccessfully));
        ((Node)sender.Node).Stop(new NodeStoppedException("on purpose"));
        sender.Turn(0);
        Assert.IsType<NodeStoppedException>(calls[3].Exception?.InnerException);

        byte[] Order(params int[] messages)
        {
            var body = new byte[4 + (8 * messages.Length)];
            BinaryPrimitives.WriteUInt32LittleEndian(body, sender.Group.Protocol.Multicast.Report(1).OrderLength);
            for (int i = 0; i < messages.Length; i++)
            {
                var run = body.AsSpan(4 + (8 * i));
                BinaryPrimitives.WriteUInt16LittleEndian(run, 1);
                BinaryPrimitives.WriteUInt16LittleEndian(run[2..], 1);
                BinaryPrimitives.WriteUInt32LittleEndian(run[4..], first + ((uint)(messages[i] + 1) * parts) - 1);
            }
            return body;
        }
    }
}
