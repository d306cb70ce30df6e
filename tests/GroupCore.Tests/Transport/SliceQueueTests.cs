using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport;

/// <summary>The unacknowledged part of one outgoing stream, in slices of slabs (links.md#every-write-says-where-it-belongs).</summary>
public sealed class SliceQueueTests
{
    private readonly SlabPool _pool = new();
    private readonly SliceQueue _queue = new();

    [Fact]
    public void Slices_that_follow_each_other_in_a_slab_are_one_piece_of_a_write()
    {
        var slab = Rent();
        Append(slab, 0, 10);
        Append(slab, 10, 5);
        Append(slab, 20, 5);
        Assert.Equal((0L, 0L, 20L), (_queue.Head, _queue.Cursor, _queue.End));
        Assert.Equal([15, 5], Pieces(_queue.End));
    }

    [Fact]
    public void A_write_takes_whole_slices_until_it_has_enough_pieces_or_bytes()
    {
        for (int i = 0; i < 5; i++) Append(Rent(), 0, 10);
        Assert.Equal(20, _queue.WriteEnd(pieces: 2, bytes: 1_000));
        Assert.Equal(30, _queue.WriteEnd(pieces: 64, bytes: 21));
        Assert.Equal(50, _queue.WriteEnd(pieces: 64, bytes: 1_000));
        _queue.Advance(15);
        Assert.Equal(30, _queue.WriteEnd(pieces: 2, bytes: 1_000));
        Assert.Equal([5, 10], Pieces(30));
    }

    [Fact]
    public void What_was_written_is_held_until_it_is_acknowledged_and_can_be_written_again()
    {
        for (int i = 0; i < 3; i++) Append(Rent(), 0, 10);
        _queue.Advance(30);
        Assert.Empty(Pieces(_queue.End));
        _queue.TrimTo(12);
        Assert.Equal((12L, 30L), (_queue.Head, _queue.Cursor));
        _queue.Seek(12);
        Assert.Equal([8, 10], Pieces(_queue.End));
    }

    [Fact]
    public void An_acknowledgement_beyond_what_was_written_on_this_connection_moves_the_cursor()
    {
        for (int i = 0; i < 3; i++) Append(Rent(), 0, 10);
        _queue.TrimTo(15);
        Assert.Equal((15L, 15L), (_queue.Head, _queue.Cursor));
        Assert.Equal([5, 10], Pieces(_queue.End));
    }

    [Fact]
    public void A_slab_is_given_back_with_the_last_of_its_slices()
    {
        var (first, second) = (Rent(), Rent());
        Append(first, 0, 10);
        Append(second, 0, 10);
        Append(first, 50, 10);
        first.Release();
        second.Release();
        Assert.Equal(2 * SlabPool.SmallBytes, _pool.RentedBytes);
        _queue.TrimTo(20);
        Assert.Equal(SlabPool.SmallBytes, _pool.RentedBytes);
        _queue.TrimTo(30);
        Assert.Equal(0, _pool.RentedBytes);
    }

    /// <summary>A small slice may keep a whole slab of others' bytes.</summary>
    [Fact]
    public void Shared_slabs_count_as_a_whole_and_once_until_their_first_slice_has_gone()
    {
        var (shared, own) = (Rent(), Rent());
        Append(shared, 0, 10, shared: true);
        Assert.True(_queue.SharesLast(shared));
        Append(shared, 40, 10, shared: true);
        Append(own, 0, 10);
        Assert.Equal(SlabPool.SmallBytes, _queue.SharedBytes);
        Assert.True(_queue.SharesLast(shared));
        Assert.False(_queue.SharesLast(own));
        _queue.TrimTo(10);
        Assert.Equal(0, _queue.SharedBytes);
    }

    [Fact]
    public void What_moves_behind_another_queue_comes_after_its_bytes()
    {
        var other = new SliceQueue();
        var (one, two) = (Rent(1), Rent(2));
        other.Append(one, 0, 10, shared: false);
        Append(two, 0, 5, shared: true);
        Append(two, 50, 5);
        _queue.MoveTo(other);
        Assert.Equal((0L, 20L), (_queue.End - _queue.Head, other.End));
        Assert.Equal((0L, (long)SlabPool.SmallBytes), (_queue.SharedBytes, other.SharedBytes));
        Assert.Equal([10, 5, 5], Pieces(20, other));
        two.Release();
        one.Release();
        other.Clear();
        Assert.Equal(0, _pool.RentedBytes);
    }

    /// <summary>A queue that keeps too many bytes of others is copied.</summary>
    [Fact]
    public void What_is_copied_into_one_slab_goes_on_where_the_write_under_way_stands()
    {
        byte[] sent = new byte[30];
        for (byte i = 0; i < 3; i++)
        {
            var slab = Rent();
            for (int at = 0; at < 10; at++) sent[(10 * i) + at] = slab.Bytes[(7 * i) + at] = (byte)((10 * i) + at + 1);
            Append(slab, 7 * i, 10, shared: true);
            slab.Release();
        }
        _queue.TrimTo(4);
        _queue.Advance(9);
        _queue.MoveInto(_pool.Rent(26));
        Assert.Equal((4L, 13L, 30L, 0L), (_queue.Head, _queue.Cursor, _queue.End, _queue.SharedBytes));
        Assert.Equal(sent[13..], Written(30));
        _queue.Seek(4);
        Assert.Equal(sent[4..], Written(30));
    }

    [Fact]
    public void A_queue_that_was_cleared_goes_on_at_its_end()
    {
        Append(Rent(), 0, 10);
        _queue.Clear();
        Assert.Equal((10L, 10L, 10L), (_queue.Head, _queue.Cursor, _queue.End));
        Append(Rent(), 3, 4);
        Assert.Equal([4], Pieces(14));
    }

    /// <summary>Compares with the stream itself, byte by byte.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Whatever_is_appended_acknowledged_and_written_again_the_stream_is_what_was_sent(ulong seed)
    {
        var random = new Prng(seed);
        var stream = new List<byte>();
        Slab[] slabs = [Rent(), Rent(), Rent()];
        int[] used = new int[slabs.Length];
        for (int step = 0; step < 20_000; step++)
        {
            switch (random.Next(4))
            {
                case 0:
                    int which = random.Next(slabs.Length), length = 1 + random.Next(60);
                    if (slabs[which].Bytes.Length - used[which] < length + 3)
                    {
                        slabs[which].Release();
                        (slabs[which], used[which]) = (Rent(), 0);
                    }
                    int start = used[which] + (random.Next(2) * 3);
                    for (int i = 0; i < length; i++) stream.Add(slabs[which].Bytes[start + i] = (byte)random.Next(256));
                    Append(slabs[which], start, length, shared: random.Next(2) == 0);
                    used[which] = start + length;
                    break;
                case 1:
                    _queue.TrimTo(_queue.Head + random.Next((int)(_queue.End - _queue.Head) + 1));
                    break;
                case 2:
                    _queue.Seek(_queue.Head + random.Next((int)(_queue.End - _queue.Head) + 1));
                    break;
                default:
                    long end = _queue.WriteEnd(1 + random.Next(8), 1 + random.Next(200));
                    Assert.Equal(stream[(int)_queue.Cursor..(int)end], Written(end));
                    _queue.Advance(random.Next((int)(end - _queue.Cursor) + 1));
                    break;
            }
            Assert.InRange(_queue.Cursor, _queue.Head, _queue.End);
            Assert.Equal(stream.Count, _queue.End);
        }
        _queue.Clear();
        foreach (var slab in slabs) slab.Release();
        Assert.Equal((0L, 0L), (_pool.RentedBytes, _queue.SharedBytes));
    }

    private Slab Rent(byte fill = 0)
    {
        var slab = _pool.Rent(SlabPool.SmallBytes);
        slab.Bytes.AsSpan().Fill(fill);
        return slab;
    }

    private void Append(Slab slab, int start, int length, bool shared = false) => _queue.Append(slab, start, length, shared);

    private List<int> Pieces(long end, SliceQueue? queue = null)
    {
        var pieces = new ArraySegment<byte>[64];
        return [.. pieces.Take((queue ?? _queue).Peek(pieces, end)).Select(static piece => piece.Count)];
    }

    private List<byte> Written(long end)
    {
        var pieces = new ArraySegment<byte>[512];
        return [.. pieces.Take(_queue.Peek(pieces, end)).SelectMany(static piece => piece)];
    }
}
