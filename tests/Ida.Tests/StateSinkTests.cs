using System.Buffers.Binary;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Shared;
using Ida.Transfer;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>How a newcomer takes its shard's state, and whom it believes (dht-view-change.md#newcomers-apply-puts-before-their-state, #equal-ranges-are-not-sent-again).</summary>
public sealed class StateSinkTests
{
    private const int Source = TransferSide.SourceRank;
    private const byte First = 1, Last = 2, Whole = 3;
    private static readonly byte[] One = TransferSide.KeyIn(3, 0), Two = TransferSide.KeyIn(3, 1), Later = TransferSide.KeyIn(9, 0);
    private readonly TransferSide _side = new(source: false);

    public StateSinkTests() => _side.Sink.Begin(Source);

    [Fact]
    public void A_newcomer_asks_its_source_with_the_digests_of_what_it_holds()
    {
        var (rank, type, body) = Assert.Single(_side.TakeSent());
        Assert.Equal((Source, DhtFrame.Pull), (rank, type));
        Assert.Equal(new byte[8 * EntryTable.Ranges], body);
        Chunk(3, Whole, (One, 7), (Two, 8));
        _side.Sink.Begin(Source);
        body = Assert.Single(_side.TakeSent()).Body;
        Assert.Equal(EntryDigest.Of(One, 7) ^ EntryDigest.Of(Two, 8), BinaryPrimitives.ReadUInt64LittleEndian(body.AsSpan(8 * 3)));
        _side.Sink.Forget();
        _side.Sink.Begin(Source);
        Assert.Equal(new byte[8 * EntryTable.Ranges], Assert.Single(_side.TakeSent()).Body);
    }

    [Fact]
    public void Entries_come_range_by_range_and_ranges_that_are_left_out_are_equal_here()
    {
        Chunk(3, First, (One, 7));
        Assert.True(_side.Sink.Has(2));
        Assert.False(_side.Sink.Has(3));
        Chunk(3, Last, (Two, 8));
        Assert.True(_side.Sink.Has(3));
        Assert.False(_side.Sink.Has(4));
        Assert.Equal((7UL, 8UL, 2), (_side.Find(One).Version, _side.Find(Two).Version, _side.Participant.Slice.Table.Count));
    }

    [Fact]
    public void Large_chunks_are_acknowledged_and_small_ones_need_no_word()
    {
        _side.TakeSent();
        Chunk(3, Whole, (One, 7));
        Assert.Empty(_side.TakeSent());
        var body = new BodyReader(ChunkOf(9, Whole, 2_000, (Later, 8)));
        _side.Sink.OnChunk(Source, ref body);
        var (rank, type, bytes) = Assert.Single(_side.TakeSent());
        Assert.Equal((Source, DhtFrame.ChunkAck, 0), (rank, type, bytes.Length));
    }

    [Theory]
    [InlineData("another member")]
    [InlineData("a range that was here")]
    [InlineData("a range that begins again")]
    [InlineData("a range that did not begin")]
    [InlineData("another range before the end of this one")]
    [InlineData("nothing")]
    public void A_chunk_that_does_not_follow_is_refused(string what)
    {
        if (what is "a range that begins again" or "another range before the end of this one") Chunk(3, First, (One, 7));
        if (what == "a range that was here") Chunk(9, Whole, (Later, 7));
        int entries = _side.Participant.Slice.Table.Count;
        byte[] chunk = what switch
        {
            "a range that did not begin" => ChunkOf(3, Last, 1, (Two, 8)),
            "another range before the end of this one" => ChunkOf(9, Last, 1, (Later, 8)),
            "nothing" => [],
            _ => ChunkOf(3, Whole, 1, (Two, 8)),
        };
        var body = new BodyReader(chunk);
        _side.Sink.OnChunk(what == "another member" ? 3 : Source, ref body);
        Assert.Equal((1L, entries), (_side.Refused(RefusalReason.Unexpected), _side.Participant.Slice.Table.Count));
    }

    [Fact]
    public void An_entry_that_does_not_lie_in_the_range_is_malformed()
    {
        Chunk(3, Whole, (Later, 7));
        Assert.Equal((1L, 0), (_side.Refused(RefusalReason.Malformed), _side.Participant.Slice.Table.Count));
        Assert.False(_side.Sink.Has(3));
    }

    /// <summary>Entries before the bad one stay: they are what the source has. The range is not whole.</summary>
    [Theory]
    [InlineData("a key that is too short")]
    [InlineData("a value that is cut")]
    public void An_entry_that_is_not_whole_is_malformed_and_those_before_it_stay(string what)
    {
        byte[] good = ChunkOf(3, Whole, 4, (One, 7)), bad = ChunkOf(3, Whole, 4, (what == "a key that is too short" ? new byte[KeyIdentity.MapBytes - 1] : Two, 8))[2..];
        var body = new BodyReader((byte[])[.. good, .. what == "a value that is cut" ? bad[..^1] : bad]);
        _side.Sink.OnChunk(Source, ref body);
        Assert.Equal((1L, 1), (_side.Refused(RefusalReason.Malformed), _side.Participant.Slice.Table.Count));
        Assert.Equal(7UL, _side.Find(One).Version);
        Assert.False(_side.Sink.Has(3));
    }

    /// <summary>A version is a time, or one above the version before.</summary>
    [Fact]
    public void A_version_beyond_all_times_is_malformed()
    {
        Chunk(3, Whole, (One, HybridClock.MaxTime + HybridClock.Jump + 1));
        Assert.Equal((1L, 0), (_side.Refused(RefusalReason.Malformed), _side.Participant.Slice.Table.Count));
    }

    /// <summary>The entry came with the state of an earlier view, and was removed since.</summary>
    [Fact]
    public void What_a_range_does_not_bring_any_more_goes()
    {
        Chunk(3, Whole, (One, 7), (Two, 8));
        _side.State.View++;
        _side.Sink.Begin(Source);
        Chunk(3, Whole, (Two, 8));
        Assert.Null(_side.Find(One));
        Assert.Equal(8UL, _side.Find(Two).Version);
    }

    [Fact]
    public void What_was_written_in_this_view_is_not_overwritten()
    {
        var written = _side.Add(One, [1], 100);
        written.Know((uint)TransferSide.ThisView);
        Chunk(3, Whole, (One, 7), (Two, 8));
        Assert.Equal((100UL, 1), (written.Version, written.Value!.Length));
    }

    [Fact]
    public void The_state_is_whole_with_the_last_piece_of_the_sessions()
    {
        _side.TakeSent();
        Assert.False(End(last: false, time: 70));
        Assert.Equal(DhtFrame.ChunkAck, Assert.Single(_side.TakeSent()).Type);
        Assert.True(_side.Sink.Has(EntryTable.Ranges - 1));
        Assert.True(End(last: true, time: 77));
        Assert.Empty(_side.TakeSent());
        // The transfer is over: nobody is believed any more.
        Assert.False(End(last: true, time: 77));
        Assert.Equal(1, _side.Refused(RefusalReason.Unexpected));
    }

    [Theory]
    [InlineData("another member")]
    [InlineData("the middle of a range")]
    [InlineData("no time")]
    public void An_end_that_cannot_be_is_refused(string what)
    {
        if (what == "the middle of a range") Chunk(3, First, (One, 7));
        Assert.False(End(last: true, time: what == "no time" ? HybridClock.MaxTime + 1 : 7, from: what == "another member" ? 3 : Source));
        Assert.Equal(1, _side.Refused(RefusalReason.Unexpected));
        Assert.False(_side.Sink.Has(200));
    }

    [Fact]
    public void Sessions_that_are_none_leave_the_state_incomplete()
    {
        Assert.False(End(last: true, time: 7, from: Source, 9));
        Assert.Equal(1, _side.Refused(RefusalReason.Malformed));
    }

    /// <summary>A mark stands for a removal: the newcomer asks whether there was anything to remove.</summary>
    [Fact]
    public void Wanted_keys_are_asked_for_once_and_in_one_question_at_a_time()
    {
        _side.TakeSent();
        var (one, two) = (Mark(One), Mark(Two));
        foreach (var entry in (Entry[])[one, two, one]) _side.Sink.Want(entry);
        Assert.Equal(2, _side.Sink.WantedCount);
        _side.Sink.Ask();
        var (rank, type, body) = Assert.Single(_side.TakeSent());
        Assert.Equal((Source, DhtFrame.Fetch, $"0200{Hex(One)}00{Hex(Two)}"), (rank, type, Convert.ToHexString(body)));
        _side.Sink.Want(Mark(Later));
        _side.Sink.Ask();
        Assert.Empty(_side.TakeSent());
        Fetched(0, 1);
        _side.Sink.Ask();
        Assert.Equal($"0100{Hex(Later)}", Convert.ToHexString(Assert.Single(_side.TakeSent()).Body));
    }

    [Fact]
    public void A_mark_of_a_key_that_was_absent_is_needed_no_more()
    {
        _side.Sink.Want(Mark(One));
        _side.Sink.Want(Mark(Two));
        _side.Sink.Ask();
        Fetched(0, 1);
        Assert.Null(_side.Find(One));
        Assert.True(_side.Participant.Late.IsMark(_side.Find(Two)));
        Assert.Equal(0, _side.Sink.WantedCount);
    }

    [Fact]
    public void What_an_answer_left_out_is_asked_for_again()
    {
        _side.Sink.Want(Mark(One));
        _side.Sink.Want(Mark(Two));
        _side.Sink.Ask();
        _side.TakeSent();
        Fetched(1);
        _side.Sink.Ask();
        Assert.Equal($"0100{Hex(Two)}", Convert.ToHexString(Assert.Single(_side.TakeSent()).Body));
    }

    [Fact]
    public void What_is_needed_no_more_is_not_asked_for()
    {
        _side.TakeSent();
        _side.Sink.Want(Mark(One));
        Chunk(3, Whole);
        _side.Sink.Ask();
        Assert.Empty(_side.TakeSent());
        Assert.Equal(0, _side.Sink.WantedCount);
    }

    [Theory]
    [InlineData("another member")]
    [InlineData("more than was asked")]
    [InlineData("nothing")]
    public void An_answer_to_what_was_not_asked_is_refused(string what)
    {
        var mark = Mark(One);
        _side.Sink.Want(mark);
        _side.Sink.Ask();
        Fetched(what == "another member" ? 3 : Source, what switch { "more than was asked" => [0, 0], "nothing" => [], _ => [0] });
        Assert.Equal(1, _side.Refused(RefusalReason.Unexpected));
        Assert.True(_side.Participant.Late.IsMark(mark));
    }

    [Theory]
    [InlineData("03")]
    [InlineData("02")]
    [InlineData("02FFFFFFFFFFFFFFFFFF0100")]
    [InlineData("02010561")]
    public void An_answer_that_is_malformed_leaves_the_key_wanted(string answer)
    {
        var mark = Mark(One);
        _side.Sink.Want(mark);
        _side.Sink.Ask();
        _side.TakeSent();
        var body = new BodyReader((byte[])[1, .. Convert.FromHexString(answer)]);
        _side.Sink.OnFetched(Source, ref body);
        Assert.Equal(1, _side.Refused(RefusalReason.Malformed));
        Assert.True(_side.Participant.Late.IsMark(mark));
        _side.Sink.Ask();
        Assert.Equal($"0100{Hex(One)}", Convert.ToHexString(Assert.Single(_side.TakeSent()).Body));
    }

    private static byte[] ChunkOf(byte range, byte flags, int bytes, params (byte[] Key, ulong Version)[] entries)
    {
        var to = new BodyWriter(new byte[10_000]);
        to.U8(range);
        to.U8(flags);
        foreach (var (key, version) in entries)
        {
            to.Blob(key);
            to.Var(version);
            to.Blob(new byte[bytes]);
        }
        return to.Written.ToArray();
    }

    private static string Hex(byte[] key) => $"{key.Length:X2}{Convert.ToHexString(key)}";

    private void Chunk(byte range, byte flags, params (byte[] Key, ulong Version)[] entries)
    {
        var body = new BodyReader(ChunkOf(range, flags, 4, entries));
        _side.Sink.OnChunk(Source, ref body);
    }

    private bool End(bool last, ulong time, int from = Source, params byte[] sessions)
    {
        byte[] bytes = [last ? (byte)1 : (byte)0, .. BitConverter.GetBytes(time), .. sessions];
        var body = new BodyReader(bytes);
        bool whole = _side.Sink.OnEnd(from, ref body, out ulong clock);
        Assert.Equal(time, clock);
        return whole;
    }

    private void Fetched(params byte[] kinds) => Fetched(Source, kinds);

    private void Fetched(int from, byte[] kinds)
    {
        var body = new BodyReader((byte[])[(byte)kinds.Length, .. kinds]);
        _side.Sink.OnFetched(from, ref body);
    }

    /// <summary>A key that was removed in this view, before its range came.</summary>
    private Entry Mark(byte[] key)
    {
        var entry = _side.Add(key, null, 0);
        entry.Know((uint)TransferSide.ThisView);
        return entry;
    }
}
