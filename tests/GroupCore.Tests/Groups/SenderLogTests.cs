using GroupCore.Groups;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;

namespace GroupCore.Tests.Groups;

/// <summary>What a member holds of one sender: from the first message that is not dropped to the last that was received.</summary>
public sealed class SenderLogTests
{
    private const MessageKind OrderedWhole = MessageKind.Ordered | MessageKind.Whole;
    private readonly SenderLog _log = new();
    private readonly MessageSlab _slab = MessageSlab.Rent();

    [Fact]
    public void Messages_are_numbered_as_they_come_and_held_until_they_are_dropped()
    {
        for (int i = 0; i < 5; i++) Append(10 + i);
        Assert.Equal((0u, 5u, 5, 60L), (_log.Base, _log.Received, _log.Count, _log.Bytes));
        _log.Passed = 5;
        _log.DropBelow(2);
        Assert.Equal((2u, 5u, 3, 39L), (_log.Base, _log.Received, _log.Count, _log.Bytes));
        Assert.Equal([false, false, true, true, true, false], Enumerable.Range(0, 6).Select(seq => _log.Holds((uint)seq)));
        Assert.Equal([12, 13, 14], Enumerable.Range(2, 3).Select(seq => _log[(uint)seq].Length));
    }

    [Fact]
    public void Places_are_used_again_however_many_messages_there_were()
    {
        for (int i = 0; i < 1_000; i++)
        {
            Append(1 + i);
            _log.Passed = _log.Received;
            if (i >= 20) _log.DropBelow((uint)i - 20);
            for (uint seq = _log.Base; seq < _log.Received; seq++) Assert.Equal(1 + (int)seq, _log[seq].Length);
        }
    }

    [Fact]
    public void What_is_not_handed_on_is_not_dropped_though_it_is_stable()
    {
        for (int i = 0; i < 5; i++) Append(10);
        _log.Passed = 2;
        _log.DropBelow(5);
        Assert.Equal(2u, _log.Base);
    }

    /// <summary>It is handed on already, but still waits for its place in the order.</summary>
    [Fact]
    public void An_ordered_message_is_not_dropped_before_its_position_is_delivered()
    {
        Append(10);
        Append(20, OrderedWhole);
        Append(10);
        _log.Passed = 3;
        _log.DropBelow(3);
        Assert.Equal(1u, _log.Base);
        _log.OrderedDelivered = 2;
        _log.DropBelow(3);
        Assert.Equal(3u, _log.Base);
    }

    [Fact]
    public void What_is_dropped_gives_back_at_least_one_KiB_of_the_window_for_each_message()
    {
        Append(10);
        Append(5_000);
        _log.Passed = 2;
        Assert.Equal(1_024 + 5_000, _log.DropBelow(2));
        Assert.Equal(0, _log.DropBelow(2));
    }

    [Fact]
    public void A_slab_is_held_as_long_as_one_message_in_it_is()
    {
        Append(10);
        Append(10);
        _log.Passed = 2;
        _log.DropBelow(1);
        Assert.False(_slab.Alone);
        _log.DropBelow(2);
        Assert.True(_slab.Alone);
    }

    [Theory]
    [InlineData(GroupLimits.AckStopMessages, 1, GroupLimits.StoredMessages)]
    [InlineData(8, 1 << 20, 16)]
    public void Acknowledgements_stop_at_half_of_what_may_be_stored_and_beyond_all_of_it_nothing_is_taken(int stops, int bytes, int full)
    {
        for (int i = 1; i <= full; i++)
        {
            Append(bytes);
            Assert.Equal((i >= stops, i >= full), (_log.StopsAcks, _log.Full));
        }
    }

    [Fact]
    public void A_message_is_open_from_its_first_part_to_its_last()
    {
        Append(10, MessageKind.First);
        Assert.True(_log.IsOpen);
        Append(10, MessageKind.None);
        Assert.True(_log.IsOpen);
        Append(10, MessageKind.Last);
        Assert.False(_log.IsOpen);
        Append(10);
        Assert.False(_log.IsOpen);
    }

    [Fact]
    public void Parts_make_the_message_that_was_sent()
    {
        Assert.True(_log.Assemble(Part(MessageKind.First, 1, 2)));
        Assert.True(_log.Assemble(Part(MessageKind.None, 3)));
        Assert.True(_log.Assemble(Part(MessageKind.Last, 4, 5)));
        Assert.Equal((byte[])[1, 2, 3, 4, 5], Taken());
        Assert.Null(_log.TakeAssembly().Slab);
    }

    [Fact]
    public void A_part_that_continues_nothing_is_refused()
    {
        Assert.False(_log.Assemble(Part(MessageKind.None, 1)));
        Assert.False(_log.Assemble(Part(MessageKind.Last, 1)));
        Assert.True(_log.Assemble(Part(MessageKind.First, 1)));
        Taken();
        Assert.False(_log.Assemble(Part(MessageKind.Last, 2)));
    }

    [Fact]
    public void A_message_that_begins_anew_has_nothing_of_the_one_before()
    {
        _log.Assemble(Part(MessageKind.First, 1, 2));
        _log.Assemble(Part(MessageKind.First, 7));
        _log.Assemble(Part(MessageKind.Last, 8));
        Assert.Equal((byte[])[7, 8], Taken());
    }

    [Fact]
    public void A_message_may_grow_beyond_a_slab()
    {
        byte[] part = [.. Enumerable.Range(0, GroupLimits.FragmentBytes).Select(static i => (byte)(7 * i))];
        for (int i = 0; i < 5; i++) Assert.True(_log.Assemble(Part(i == 0 ? MessageKind.First : i == 4 ? MessageKind.Last : MessageKind.None, part)));
        Assert.Equal((byte[])[.. part, .. part, .. part, .. part, .. part], Taken());
    }

    /// <summary>Messages before one that was taken get no position any more.</summary>
    [Fact]
    public void A_message_that_was_put_together_is_kept_for_its_position_and_those_before_it_go()
    {
        foreach (byte seq in (byte[])[3, 6, 9])
        {
            _log.Assemble(Part(MessageKind.First | MessageKind.Last, seq));
            _log.KeepAssembly(seq);
        }
        Assert.Null(_log.TakeKept(2).Slab);
        Assert.Equal((byte[])[6], Bytes(_log.TakeKept(6)));
        Assert.Null(_log.TakeKept(3).Slab);
        Assert.Null(_log.TakeKept(8).Slab);
        Assert.Equal((byte[])[9], Bytes(_log.TakeKept(9)));
    }

    [Fact]
    public void At_the_end_of_the_view_all_is_given_back()
    {
        Append(10);
        Append(2_000);
        _log.Assemble(Part(MessageKind.First, 1));
        Assert.Equal(1_024 + 2_000, _log.Clear());
        Assert.Equal((2u, 0, 0L), (_log.Base, _log.Count, _log.Bytes));
        Assert.True(_slab.Alone);
        Assert.Null(_log.TakeAssembly().Slab);
        _log.Trim();
        Append(30);
        Assert.Equal(30, _log[2].Length);
    }

    /// <summary>Only the second look moves messages: one that goes soon needs no other place.</summary>
    [Fact]
    public void Messages_that_stay_are_moved_together_at_the_second_look_and_keep_their_bytes()
    {
        var slabs = new MessageSlabPool();
        MessageSlab? into = null;
        var sparse = Enumerable.Range(0, 4).Select(static _ => MessageSlab.Rent()).ToList();
        for (byte i = 0; i < 4; i++)
        {
            sparse[i].Bytes[i] = i;
            _log.Append(sparse[i], i, 1, MessageKind.Whole, 0);
        }
        _log.Squeeze(slabs, ref into);
        Assert.Null(into);
        _log.Squeeze(slabs, ref into);
        Assert.All(_log.Slabs, slab => Assert.Same(into, slab));
        Assert.All(sparse, static slab => Assert.True(slab.Alone));
        Assert.Equal([0, 1, 2, 3], Enumerable.Range(0, 4).Select(seq => (int)_log[(uint)seq].Record[0]));
        // A slab that is well filled stays.
        _log.Append(sparse[0], 0, MessageSlab.Size / 2, MessageKind.Whole, 0);
        for (int i = 0; i < 2; i++) _log.Squeeze(slabs, ref into);
        Assert.Same(sparse[0], _log[4].Slab);
    }

    private static byte[] Bytes((MessageSlab? Slab, int Length) message) => message.Slab!.Bytes.AsSpan(0, message.Length).ToArray();

    private static StoredMessage Part(MessageKind kind, params byte[] payload)
    {
        var slab = MessageSlab.Rent();
        return new() { Slab = slab, Kind = kind, Length = MessageRecord.Write(slab.Bytes, kind, 1, 0, payload) };
    }

    private void Append(int length, MessageKind kind = MessageKind.Whole) => _log.Append(_slab, 0, length, kind, 0);

    private byte[] Taken() => Bytes(_log.TakeAssembly());
}
