using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Bytes that no call may send are refused before a buffer of their size is taken.</summary>
public sealed class MessageSizeTests
{
    [Theory]
    [InlineData(GroupLimits.MessageBytes, false)]
    [InlineData(GroupLimits.PeerBytes, true)]
    public void Raw_bytes_that_are_too_many_are_not_copied(int limit, bool toOne)
    {
        var world = new LoopbackGroup();
        var group = world.Members[0].Group;
        var bytes = new ReadOnlyMemory<byte>(new byte[limit + 1]);
        long before = GC.GetAllocatedBytesForCurrentThread();
        var refused = Assert.Throws<MessageTooLargeException>(() =>
        {
            _ = toOne ? group.SendToAsync(1, "bytes", bytes).AsTask() : group.SendAsync("bytes", bytes).AsTask();
        });
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, limit / 2);
        Assert.Equal(limit, refused.Limit);
        Assert.Equal(limit + 1, refused.Bytes);
    }
}
