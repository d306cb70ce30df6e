using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>How much bulk may wait on links: the budget of each, the sum over all, and who hears that there is room again.</summary>
public sealed class RoomTests
{
    private const long Millisecond = 1_000_000;

    [Fact]
    public void F21_a_sender_that_finds_no_room_is_told_when_half_is_free_and_no_sender_gets_any_before()
    {
        var budget = new BulkBudget();
        Assert.Equal(budget.Bytes - 10, budget.Room(10));
        Assert.InRange(budget.Room(budget.Bytes), long.MinValue, 0);
        Assert.Equal(0, budget.Room(0));
        Assert.False(budget.TryReopen((budget.Bytes / 2) + 1));
        Assert.True(budget.TryReopen(budget.Bytes / 2));
        Assert.False(budget.TryReopen(0));
        Assert.InRange(budget.Room(0), 1, budget.Bytes);
    }

    [Fact]
    public void F21_the_budget_follows_the_speed_of_the_link()
    {
        var budget = new BulkBudget();
        for (long i = 1; i < 20; i++)
        {
            budget.OnWrite(i, budget.Bytes, 0);
            budget.OnAcknowledged(i, 2 * BulkBudget.MostDelay);
        }
        Assert.Equal(LinkLimits.LeastBulkBytes, budget.Bytes);
        for (long i = 20; i < 40; i++)
        {
            // A sender waits; otherwise there is no reason to grow the budget.
            budget.Room(budget.Bytes);
            budget.OnWrite(i, budget.Bytes, 0);
            budget.OnAcknowledged(i, Millisecond);
            budget.TryReopen(0);
        }
        Assert.Equal(LinkLimits.MostBulkBytes, budget.Bytes);
    }

    [Fact]
    public void F21_the_time_to_room_follows_from_what_was_acknowledged_lately()
    {
        var node = new LinkBacklog(8_000_000);
        node.Add(8_000_000);
        Assert.True(node.IsFull);
        for (long at = 0; at <= 500; at += 50)
        {
            node.Measure(at * Millisecond);
            // 1 MB goes in 50 ms, and as much comes.
            node.Remove(1_000_000);
            node.Add(1_000_000);
        }
        // An eighth has to go: 1 MB at 20 MB/s.
        Assert.InRange(node.TimeToRoom(500 * Millisecond).TotalMilliseconds, 40, 60);
    }

    [Fact]
    public void F21_links_that_wait_for_the_node_go_on_when_others_have_given_room_back()
    {
        var pool = new SlabPool();
        var node = new LinkBacklog(600_000);
        var full = new LinkSession(0, pool, LinkCarrier.Connection, node: node);
        var other = new LinkSession(1, pool, LinkCarrier.Connection, node: node);
        Fill(full, 700);
        Assert.Equal(0, other.Room());
        Assert.False(other.TryReopen());
        full.Close();
        Assert.True(node.MayReopen);
        Assert.Equal([other], node.TakeWaiting());
        Assert.True(other.TryReopen());
        Assert.InRange(other.Room(), 1, long.MaxValue);
        Assert.Equal(0, node.Bytes);
    }

    [Fact]
    public void F21_a_link_that_ran_short_by_itself_hears_of_room_though_its_last_bytes_were_acknowledged_while_the_node_was_full()
    {
        var pool = new SlabPool();
        var node = new LinkBacklog(2_000_000);
        var own = new LinkSession(0, pool, LinkCarrier.Connection, node: node);
        var other = new LinkSession(1, pool, LinkCarrier.Connection, node: node);
        Fill(own, 1_200);
        Assert.InRange(own.Room(), long.MinValue, 0);
        Fill(other, 2_000);
        Assert.True(own.Attach(0));
        var pieces = new ArraySegment<byte>[LinkSession.MaxPieces];
        while (own.Gather(pieces, 0) is > 0 and var count) own.Written(pieces.Take(count).Sum(piece => piece.Count), 0);
        own.Detach();
        Assert.True(own.Attach(1_200_000));
        Assert.False(own.TryReopen());
        other.Close();
        Assert.True(node.MayReopen);
        Assert.Equal([own], node.TakeWaiting());
        Assert.True(own.TryReopen());
    }

    private static void Fill(LinkSession session, int frames)
    {
        byte[] frame = new byte[1_000];
        FrameHeader.Write(frame, FrameType.Data, 0, 0, frame.Length - FrameHeader.Size);
        for (int i = 0; i < frames; i++) session.AppendCopy(frame);
    }
}
