using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;

namespace GroupCore.Tests.Groups;

/// <summary>A message, or a part of one, as it travels (multicast.md#messages).</summary>
public sealed class MessageRecordTests
{
    [Fact]
    public void The_last_part_of_an_ordered_message_says_how_much_of_the_order_its_sender_had()
    {
        byte[] to = new byte[20];
        Assert.Equal(15, MessageRecord.Write(to, MessageKind.Ordered | MessageKind.Whole, 0x01020304, 7, [1, 2, 3]));
        Assert.Equal("0300000D" + "04030201" + "07000000" + "010203", Convert.ToHexString(to, 0, 15));
        Assert.Equal(9, MessageRecord.Write(to, MessageKind.Ordered | MessageKind.First, 0x01020304, 7, [1]));
        Assert.Equal("01000005" + "04030201" + "01", Convert.ToHexString(to, 0, 9));
        Assert.Equal(0x01020304u, MessageRecord.HandlerAt(to));
    }

    [Theory]
    [InlineData(0x0C, 0)]
    [InlineData(0x0D, 100)]
    [InlineData(0x0F, 100)]
    [InlineData(0x0C, GroupLimits.FragmentBytes)]
    [InlineData(0x04, GroupLimits.FragmentBytes)]
    public void What_is_written_is_read_with_more_behind_it(int kind, int payload)
    {
        byte[] bytes = new byte[payload + 20];
        int written = MessageRecord.Write(bytes, (MessageKind)kind, 1, 9, new byte[payload]);
        Assert.True(MessageRecord.TryRead(bytes, out var read, out uint dep, out int length));
        Assert.Equal(((MessageKind)kind, written), (read, length));
        Assert.Equal(MessageRecord.HeadOf(read) == 12 ? 9u : 0, dep);
        for (int cut = 0; cut < written; cut += Math.Max(1, written / 50)) Assert.False(MessageRecord.TryRead(bytes.AsSpan(0, cut), out _, out _, out _));
    }

    [Fact]
    public void A_kind_that_is_not_defined_and_a_payload_that_no_part_has_are_refused()
    {
        Assert.False(Reads(0x1C, 5));
        Assert.False(Reads(0x0C, GroupLimits.FragmentBytes + 1));
    }

    /// <summary>Otherwise one frame could begin very many messages, each of which takes a slab.</summary>
    [Fact]
    public void A_part_that_is_not_the_last_is_full()
    {
        Assert.True(Reads(0x04, GroupLimits.FragmentBytes));
        Assert.False(Reads(0x04, GroupLimits.FragmentBytes - 1));
        Assert.False(Reads(0x00, 0));
    }

    private static bool Reads(int kind, int payload)
    {
        byte[] bytes = new byte[payload + 20];
        MessageRecord.Write(bytes, (MessageKind)kind, 1, 0, new byte[payload]);
        return MessageRecord.TryRead(bytes, out _, out _, out _);
    }
}
