using System.Buffers;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>What a link keeps and sends for a peer that somebody vouched for, when nobody does any more.</summary>
public sealed class LostVouchTests
{
    /// <summary>The peer was known and asked something. What it took leaves no buffer, and what it did not take leaves one small one.</summary>
    [Theory, InlineData(0), InlineData(1), InlineData(4)]
    public void A_peer_for_whom_nobody_vouches_any_more_keeps_the_buffers_of_a_stranger(int frames)
    {
        var end = new SessionEnd(LinkCarrier.Connection);
        Assert.True(end.Session.Attach(0));
        for (int i = 0; i < 6; i++)
        {
            // Between these frames the slab is filled by what goes to others.
            end.Send(100, shared: false);
            end.Send(3_000, shared: true);
            end.Fill();
        }
        var other = new SessionEnd(LinkCarrier.Connection);
        Assert.True(other.Session.Attach(0));
        Pass(end, other, frames);
        Assert.Equal(frames > 0, end.Session.Backlog > 0);
        end.Session.IsForeign = true;
        // The buffer in which frames are encoded is held as well.
        Assert.InRange(end.Pool.RentedBytes, SlabPool.SmallBytes, SlabPool.SmallBytes + LinkLimits.StrangerBytes);
        end.Send(500, shared: true);
        Pass(end, other, 0);
        Assert.Null(other.Wrong);
        Assert.Equal(end.Sent, other.Got);
    }

    /// <summary>Vouching may begin and end in the midst of a write, and any number of times.</summary>
    [Fact]
    public void Frames_come_whole_and_in_order_whoever_vouches_meanwhile()
    {
        var random = new Prng(11);
        SessionEnd end = new(LinkCarrier.Connection), other = new(LinkCarrier.Connection);
        var pieces = new ArraySegment<byte>[LinkSession.MaxPieces];
        List<byte> wire = [];
        Assert.True(end.Session.Attach(0) && other.Session.Attach(0));
        for (int step = 0; step < 5_000; step++)
        {
            if (end.Session.Backlog < 12_000) end.Send(random.Next(3_000), shared: random.Chance(0.5));
            if (random.Chance(0.2)) end.Fill();
            if (random.Chance(0.2)) end.Session.IsForeign = !end.Session.IsForeign;
            int count = end.Session.Gather(pieces, 0), left = random.Next(4_000), taken = 0;
            for (int i = 0; i < count && left > taken; i++)
            {
                int here = Math.Min(left - taken, pieces[i].Count);
                wire.AddRange(pieces[i].AsSpan(0, here));
                taken += here;
            }
            end.Session.Written(taken, 0);
            if (random.Chance(0.2)) end.Session.IsForeign = !end.Session.IsForeign;
            Assert.Equal(LinkInput.Taken, other.Session.Receive([.. wire], other, 0, out int consumed));
            wire.RemoveRange(0, consumed);
            if (random.Chance(0.3) || end.Session.Backlog >= 12_000) Acknowledge(other, end);
        }
        Assert.Null(other.Wrong);
        Assert.InRange(other.Got, 1_000u, end.Sent);
    }

    // All frames but the last few are acknowledged; 0 for all.
    private static void Pass(SessionEnd from, SessionEnd to, int but)
    {
        var write = new ArrayBufferWriter<byte>();
        while (from.Session.TryTakeWrite(write, 0))
        {
        }
        int length = write.WrittenCount;
        for (int i = 0; i < but; i++) length -= i % 2 == 0 ? FrameHeader.Size + 3_000 : FrameHeader.Size + 100;
        Assert.Equal(LinkInput.Taken, to.Session.Receive(write.WrittenSpan[..length], to, 0, out _));
        Acknowledge(to, from);
        Assert.Equal(LinkInput.Taken, to.Session.Receive(write.WrittenSpan[length..], to, 0, out _));
    }

    private static void Acknowledge(SessionEnd from, SessionEnd to)
    {
        var write = new ArrayBufferWriter<byte>();
        if (from.Session.TryTakeWrite(write, long.MaxValue - 1)) Assert.Equal(LinkInput.Taken, to.Session.Receive(write.WrittenSpan, to, 0, out _));
    }
}
