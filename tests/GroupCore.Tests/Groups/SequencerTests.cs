namespace GroupCore.Tests.Groups;

/// <summary>Which senders get positions when there are not enough for all.</summary>
public sealed class SequencerTests
{
    private const int Members = 20, Open = 8_192;

    [Fact]
    public void Each_sender_gets_its_share_when_positions_are_short()
    {
        var world = new LoopbackGroup(Members, 2 << 20);
        var open = Enumerable.Range(0, Members - 1).Select(static _ => new Queue<Task>()).ToArray();
        int[] ended = new int[Members];
        long now = 0;
        for (int round = 0; round < 3; round++)
        {
            for (int turn = 0; turn < 12; turn++)
            {
                now += 1_000_000;
                for (int i = 0; i < Members - 1; i++)
                {
                    while (open[i].Count < Open) open[i].Enqueue(world.Members[i].Group.OrderedSendAsync("bytes", ReadOnlyMemory<byte>.Empty).AsTask());
                    world.Members[i].Turn(now);
                    for (; open[i].TryPeek(out var call) && call.IsCompleted; ended[i]++) open[i].Dequeue();
                }
            }
            // Positions stay taken until the last member has acknowledged; now it does.
            for (int turn = 0; turn < 3; turn++) world.Members[^1].Turn(now += 1_000_000);
        }
        Assert.All(ended[..^1], static count => Assert.True(count > 0));
    }
}
