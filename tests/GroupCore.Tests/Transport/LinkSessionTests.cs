using System.Buffers;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>A session alone: no socket, virtual time.</summary>
public sealed class LinkSessionTests
{
    private const long Millisecond = 1_000_000;

    [Fact]
    public void G7_8_frames_arrive_once_and_in_order_over_a_carrier_that_loses_doubles_and_overtakes()
    {
        for (ulong seed = 1; seed <= 200; seed++) Run(seed);
    }

    [Fact]
    public void Reserved_bytes_are_seen_again_until_their_frame_is_sealed_and_no_more_than_were_reserved()
    {
        var buffer = new SendBuffer(new());
        buffer.Reserve(100)[99] = 7;
        Assert.Equal(7, buffer.Reserved(100)[99]);
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.Reserved(101).Length);
        FrameHeader.Write(buffer.Reserved(FrameHeader.Size), FrameType.Propose, 0, 1, 100 - FrameHeader.Size);
        buffer.Seal(100);
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.Reserved(1).Length);
    }

    private static void Run(ulong seed)
    {
        var random = new Prng(seed);
        SessionEnd a = new(LinkCarrier.Datagrams), b = new(LinkCarrier.Datagrams);
        Assert.True(a.Session.Attach(0) && b.Session.Attach(0));
        double loss = random.NextDouble() * 0.4, twice = random.NextDouble() * 0.3;
        int frames = 50 + random.Next(200);
        var flying = new PriorityQueue<(SessionEnd To, byte[] Bytes), (long, int)>();
        int sequence = 0;
        long now = 0;
        for (int step = 0; a.Got < frames || b.Got < frames || a.Session.Backlog + b.Session.Backlog > 0; step++)
        {
            Assert.True(step < 200_000, $"seed {seed}: no end");
            Turn(a, b);
            Turn(b, a);
            long next = Math.Min(a.Session.NextTimer, b.Session.NextTimer);
            if (flying.TryPeek(out _, out var at)) next = Math.Min(next, at.Item1);
            if (a.Sent < frames || b.Sent < frames) next = Math.Min(next, now + Millisecond);
            now = Math.Max(now, next == long.MaxValue ? now + Millisecond : next);
            while (flying.TryPeek(out var datagram, out at) && at.Item1 <= now)
            {
                flying.Dequeue();
                var taken = datagram.To.Session.Receive(datagram.Bytes, datagram.To, now, out int consumed);
                Assert.True(taken is LinkInput.Taken or LinkInput.Gap, $"seed {seed}: {taken}");
                Assert.Equal(datagram.Bytes.Length, consumed);
            }
            a.Session.OnTimer(now);
            b.Session.OnTimer(now);
        }
        Assert.True(a.Wrong is null && b.Wrong is null, $"seed {seed}: {a.Wrong} {b.Wrong}");
        Assert.Equal((frames, frames), ((int)a.Got, (int)b.Got));

        void Turn(SessionEnd from, SessionEnd to)
        {
            while (from.Sent < frames && random.Chance(0.5)) from.Send(random.Chance(0.05) ? random.Next(100_000) : random.Next(300), random.Chance(0.5));
            var write = new ArrayBufferWriter<byte>();
            while (from.Session.TryTakeWrite(write, now))
            {
                for (int copies = random.Chance(loss) ? 0 : random.Chance(twice) ? 2 : 1; copies > 0; copies--)
                    flying.Enqueue((to, write.WrittenSpan.ToArray()), (now + random.Next(Millisecond / 10, 20 * Millisecond), sequence++));
                write.ResetWrittenCount();
            }
        }
    }

    [Fact]
    public void G7_8_a_stream_cut_at_any_byte_resumes_without_loss_or_repetition()
    {
        for (ulong seed = 1; seed <= 200; seed++)
        {
            var random = new Prng(seed);
            SessionEnd a = new(LinkCarrier.Connection), b = new(LinkCarrier.Connection);
            List<byte> wire = [];
            while (b.Got < 300)
            {
                wire.Clear();
                Assert.True(a.Session.Attach(b.Session.Received) && b.Session.Attach(a.Session.Received));
                int cut = random.Next(60_000);
                while (cut > 0 && b.Got < 300)
                {
                    while (a.Sent < 300 && random.Chance(0.7)) a.Send(random.Next(3000), random.Chance(0.5));
                    int left = WritePart(a.Session, wire, random.Next(20_000));
                    cut -= left;
                    if (cut < 0) wire.RemoveRange(wire.Count + cut, -cut);
                    Assert.Equal(LinkInput.Taken, b.Session.Receive([.. wire], b, 0, out int consumed));
                    wire.RemoveRange(0, consumed);
                    if (random.Chance(0.1)) Acknowledge(b.Session, a);
                }
                a.Session.Detach();
                b.Session.Detach();
            }
            Assert.Null(b.Wrong);
            Assert.Equal(300u, b.Got);
        }
    }

    [Fact]
    public void Received_bytes_are_acknowledged_by_a_bare_segment_when_nothing_else_is_sent()
    {
        SessionEnd a = new(LinkCarrier.Connection), b = new(LinkCarrier.Connection);
        Assert.True(a.Session.Attach(0) && b.Session.Attach(0));
        a.Send(100, shared: true);
        var write = new ArrayBufferWriter<byte>();
        Assert.True(a.Session.TryTakeWrite(write, 0));
        Assert.Equal(LinkInput.Taken, b.Session.Receive(write.WrittenSpan, b, 0, out _));
        Assert.False(b.Session.HasOutput(0));
        Assert.Equal(LinkSession.AckDelay, b.Session.NextTimer);
        Assert.Equal(112, a.Session.Backlog);
        write.ResetWrittenCount();
        Assert.True(b.Session.TryTakeWrite(write, LinkSession.AckDelay));
        Assert.Equal(SegmentFrame.Size, write.WrittenCount);
        Assert.Equal(LinkInput.Taken, a.Session.Receive(write.WrittenSpan, a, 0, out _));
        Assert.Equal(0, a.Session.Backlog);
        Assert.False(a.Session.HasOutput(long.MaxValue - 1), "an acknowledgement is not acknowledged");
    }

    [Fact]
    public void G10_6_a_queue_past_its_limit_takes_nothing_more()
    {
        SessionEnd a = new(LinkCarrier.Connection, queueBytes: 100_000);
        for (int i = 0; i < 1000; i++) a.Send(1000, shared: i % 2 == 0);
        Assert.True(a.Session.Overflowed);
        Assert.InRange(a.Session.Backlog, 90_000, 100_000);
        a.Session.Close();
        Assert.Equal(0, a.Session.Backlog);
    }

    [Fact]
    public void An_offset_that_was_never_written_is_refused_when_resuming()
    {
        SessionEnd a = new(LinkCarrier.Connection);
        a.Send(100, shared: false);
        Assert.False(a.Session.Attach(112));
        Assert.True(a.Session.Attach(0));
    }

    [Theory]
    [InlineData("no segment first")]
    [InlineData("negative length")]
    [InlineData("least length")]
    [InlineData("oversized")]
    [InlineData("wrong version")]
    [InlineData("hello inside the stream")]
    [InlineData("short segment")]
    [InlineData("acknowledges what was not sent")]
    [InlineData("starts inside a frame")]
    public void G10_7_malformed_streams_are_refused(string what)
    {
        SessionEnd end = new(LinkCarrier.Connection);
        Assert.True(end.Session.Attach(0));
        var bytes = new byte[200];
        new SegmentFrame(0, 0, false).Write(bytes);
        var frame = bytes.AsSpan(SegmentFrame.Size);
        FrameHeader.Write(frame, FrameType.Data, 0, 0, 8);
        int length = SegmentFrame.Size + FrameHeader.Size + 8;
        switch (what)
        {
            case "no segment first": bytes = bytes[SegmentFrame.Size..]; length -= SegmentFrame.Size; break;
            case "negative length": BitConverter.TryWriteBytes(frame, -1); break;
            case "least length": BitConverter.TryWriteBytes(frame, int.MinValue); break;
            case "oversized": BitConverter.TryWriteBytes(frame, LinkLimits.FrameBytes - 3); break;
            case "wrong version": frame[4] = FrameHeader.Version + (1 << 4); break;
            case "hello inside the stream": frame[5] = (byte)FrameType.Hello; break;
            case "short segment": frame[5] = (byte)FrameType.Segment; break;
            case "acknowledges what was not sent": new SegmentFrame(0, 1, false).Write(bytes); break;
            default:
                Assert.Equal(LinkInput.Taken, end.Session.Receive(bytes.AsSpan(0, length), end, 0, out _));
                new SegmentFrame(19, 0, false).Write(bytes);
                break;
        }
        uint got = end.Got;
        Assert.Equal(LinkInput.Malformed, end.Session.Receive(bytes.AsSpan(0, length), end, 0, out _));
        Assert.Equal(got, end.Got);
    }

    [Fact]
    public void Random_bytes_never_throw_and_never_reach_the_sink_without_a_segment()
    {
        var random = new Prng(7);
        var bytes = new byte[300];
        for (int run = 0; run < 20_000; run++)
        {
            SessionEnd end = new(run % 2 == 0 ? LinkCarrier.Connection : LinkCarrier.Datagrams);
            Assert.True(end.Session.Attach(0));
            for (int i = 0; i < bytes.Length; i++) bytes[i] = (byte)random.NextUInt64();
            BitConverter.TryWriteBytes(bytes, random.Next(100));
            if (random.Chance(0.7)) bytes[4] = FrameHeader.Version;
            end.Session.Receive(bytes, end, 0, out int consumed);
            Assert.InRange(consumed, 0, bytes.Length);
            Assert.Equal(0u, end.Got);
            end.Session.Close();
        }
    }

    /// <summary>The memory for frames that wait for one member stays in proportion to their own bytes, however much others take meanwhile.</summary>
    [Theory]
    [InlineData(200, 60_000, 5_000)]
    [InlineData(20, 60_000, 400)]
    [InlineData(3_000, 60_000, 500)]
    [InlineData(3_000, 900_000, 500)]
    [InlineData(70_000, 900_000, 30)]
    public void Frames_for_one_that_stands_still_keep_few_slabs_of_what_others_take(int body, int others, int rounds)
    {
        var pool = new SlabPool();
        var buffer = new SendBuffer(pool);
        LinkSession still = new(1, pool, LinkCarrier.Connection), quick = new(2, pool, LinkCarrier.Connection);
        for (int round = 0; round < rounds; round++)
        {
            Append(body, still, quick);
            Append(others, quick);
            quick.Close();
            quick = new(2, pool, LinkCarrier.Connection);
        }
        Assert.Equal((long)rounds * (FrameHeader.Size + body), still.Backlog);
        Assert.InRange(pool.RentedBytes, still.Backlog, (5 * still.Backlog) + (3 << 20));

        void Append(int body, params LinkSession[] to)
        {
            int size = FrameHeader.Size + body;
            FrameHeader.Write(buffer.Reserve(size), FrameType.Data, 1, 0, body);
            buffer.Seal(size);
            foreach (var session in to) buffer.AppendShared(session, size);
            buffer.Commit(size);
        }
    }

    [Fact]
    public void Slabs_of_acknowledged_frames_are_used_again()
    {
        SessionEnd a = new(LinkCarrier.Connection), b = new(LinkCarrier.Connection);
        Assert.True(a.Session.Attach(0) && b.Session.Attach(0));
        var write = new ArrayBufferWriter<byte>(1 << 20);
        long allocated = 0;
        bool taken = true;
        for (int round = 0; round < 2000; round++)
        {
            if (round == 200) allocated = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 20; i++) a.Send(100 + i, shared: i % 3 == 0);
            if (round % 50 == 0) a.Send(200_000, shared: true);
            write.ResetWrittenCount();
            while (a.Session.TryTakeWrite(write, 0)) { }
            // No assertions in the loop: they allocate.
            taken &= b.Session.Receive(write.WrittenSpan, b, 0, out _) == LinkInput.Taken;
            write.ResetWrittenCount();
            if (b.Session.TryTakeWrite(write, long.MaxValue - 1)) taken &= a.Session.Receive(write.WrittenSpan, a, 0, out _) == LinkInput.Taken;
        }
        allocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
        Assert.True(taken);
        Assert.Null(b.Wrong);
        Assert.InRange(allocated, 0, 1024);
    }

    private static void Acknowledge(LinkSession from, SessionEnd to)
    {
        var write = new ArrayBufferWriter<byte>();
        if (from.TryTakeWrite(write, long.MaxValue - 1)) Assert.Equal(LinkInput.Taken, to.Session.Receive(write.WrittenSpan, to, 0, out _));
    }

    private static int WritePart(LinkSession from, List<byte> wire, int most)
    {
        var pieces = new ArraySegment<byte>[LinkSession.MaxPieces];
        int count = from.Gather(pieces, 0), left = most;
        for (int i = 0; i < count && left > 0; i++)
        {
            int taken = Math.Min(left, pieces[i].Count);
            wire.AddRange(pieces[i].AsSpan(0, taken));
            left -= taken;
        }
        from.Written(most - left, 0);
        return Math.Max(1, most - left);
    }
}
