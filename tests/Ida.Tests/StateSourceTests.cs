using System.Buffers.Binary;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Transfer;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>What the source of a shard sends a newcomer, and when (dht-view-change.md#equal-ranges-are-not-sent-again, #decided-puts-come-before-the-snapshot).</summary>
public sealed class StateSourceTests
{
    private const int Newcomer = TransferSide.NewcomerRank;
    private const ulong Clock = 77;
    private readonly TransferSide _side = new(source: true);

    [Fact]
    public void A_newcomer_gets_the_ranges_that_have_entries_in_order_and_then_the_sessions()
    {
        Add(200, 0, version: 9);
        Add(3, 0, version: 7);
        Add(3, 1, version: 8);
        Open();
        Pull();
        var sent = _side.TakeSent();
        Assert.Equal([(Newcomer, DhtFrame.Chunk), (Newcomer, DhtFrame.Chunk), (Newcomer, DhtFrame.StateEnd)], sent.Select(static frame => (frame.Rank, frame.Type)));
        Assert.Equal(["range 3 whole: 7 8", "range 200 whole: 9"], sent.Take(2).Select(static frame => Text(frame.Body)));
        Assert.Equal((1, Clock, 9), ((int)sent[2].Body[0], BinaryPrimitives.ReadUInt64LittleEndian(sent[2].Body.AsSpan(1)), sent[2].Body.Length));
        Assert.False(_side.Source.HasWork);
    }

    [Fact]
    public void A_range_that_the_newcomer_holds_already_is_not_sent()
    {
        var (one, two) = (Add(3, 0, version: 7), Add(3, 1, version: 8));
        Add(200, 0, version: 9);
        Open();
        Pull((3, EntryDigest.Of(one.Key, 7) ^ EntryDigest.Of(two.Key, 8)), (200, EntryDigest.Of(one.Key, 9)));
        Assert.Equal(["range 200 whole: 9"], Chunks());
    }

    /// <summary>Otherwise the newcomer would keep what was removed.</summary>
    [Fact]
    public void A_range_that_is_empty_here_and_not_at_the_newcomer_is_sent_empty()
    {
        Open();
        Pull((3, 1));
        Assert.Equal(["range 3 whole:"], Chunks());
    }

    [Fact]
    public void What_is_sent_is_what_there_was_when_the_view_began()
    {
        var (changed, removed) = (Add(3, 0, version: 7), Add(3, 1, version: 8));
        Open();
        Change(changed, [1], 20);
        Change(removed, null, 0);
        var key = TransferSide.KeyIn(3, 2);
        Change(_side.Add(key, null, 0), [1], 21);
        Change(changed, [2], 22);
        Pull();
        Assert.Equal(["range 3 whole: 7 8"], Chunks());
        Assert.Equal(2, _side.Participant.Slice.Snapshot.KeptCount);
    }

    [Fact]
    public void A_range_larger_than_a_chunk_goes_in_several_and_says_where_it_begins_and_ends()
    {
        for (int i = 0; i < 5; i++) Add(3, i, version: 10, bytes: 200_000);
        Open();
        Pull();
        Assert.Equal(["range 3 first: 10 10", "range 3: 10 10", "range 3 last: 10"], Chunks());
    }

    [Fact]
    public void Four_chunks_are_on_their_way_at_most_and_each_acknowledgement_lets_another_go()
    {
        for (int range = 0; range < 6; range++) Add(range, 0, version: 10 + (ulong)range, bytes: 2_000);
        Open();
        Pull();
        Assert.Equal(["range 0 whole: 10", "range 1 whole: 11", "range 2 whole: 12", "range 3 whole: 13"], Chunks());
        _side.Source.OnAck(3);
        Assert.Empty(Chunks());
        _side.Source.OnAck(Newcomer);
        Assert.Equal(["range 4 whole: 14"], Chunks());
        _side.Source.OnAck(Newcomer);
        Assert.Equal(["range 5 whole: 15"], Chunks());
        Assert.True(_side.Source.HasWork);
        _side.Source.OnAck(Newcomer);
        Assert.Equal(DhtFrame.StateEnd, Assert.Single(_side.TakeSent()).Type);
    }

    [Fact]
    public void More_acknowledgements_than_chunks_let_no_more_go()
    {
        for (int range = 0; range < 12; range++) Add(range, 0, version: 10, bytes: 2_000);
        _side.HasRoom = false;
        Open();
        Pull();
        for (int i = 0; i < 10; i++) _side.Source.OnAck(Newcomer);
        _side.HasRoom = true;
        _side.Source.OnRoom(Newcomer);
        Assert.Equal(4, Chunks().Count);
    }

    /// <summary>There are at most 256 of them.</summary>
    [Fact]
    public void Small_chunks_need_no_acknowledgement()
    {
        for (int range = 0; range < 50; range++) Add(range, 0, version: 10, bytes: 900);
        Open();
        Pull();
        Assert.Equal(50, Chunks().Count);
    }

    [Fact]
    public void State_is_bulk_and_waits_for_room_on_the_link()
    {
        Add(3, 0, version: 7);
        Open();
        _side.HasRoom = false;
        Pull();
        _side.Source.Tick();
        Assert.Empty(_side.TakeSent());
        _side.HasRoom = true;
        _side.Source.OnRoom(3);
        Assert.Empty(_side.TakeSent());
        _side.Source.OnRoom(Newcomer);
        Assert.Equal(["range 3 whole: 7"], Chunks());
    }

    [Theory]
    [InlineData("of another shard")]
    [InlineData("without a slot")]
    [InlineData("a second time")]
    [InlineData("cut")]
    [InlineData("with a byte more")]
    [InlineData("without the state")]
    [InlineData("without a snapshot")]
    public void A_question_that_no_newcomer_asks_here_is_refused(string what)
    {
        Add(3, 0, version: 7);
        if (what != "without a snapshot") Open();
        if (what == "without the state") _side.State.Initialised = false;
        if (what == "a second time")
        {
            _side.HasRoom = false;
            Pull();
            _side.HasRoom = true;
        }
        var body = new BodyReader(new byte[what switch { "cut" => 2_047, "with a byte more" => 2_049, _ => 2_048 }]);
        _side.Source.OnPull(what switch { "of another shard" => 1, "without a slot" => 9, _ => Newcomer }, ref body);
        Assert.Empty(_side.TakeSent());
        Assert.Equal(1, _side.Refused(RefusalReason.Unexpected));
    }

    [Fact]
    public void The_snapshot_is_over_when_no_member_of_the_shard_waits_for_it()
    {
        var entry = Add(3, 0, version: 7);
        Open();
        Change(entry, null, 0);
        _side.Source.OnReady();
        Assert.True(_side.Participant.Slice.Snapshot.Needs(entry));
        _side.State.Map!.SetInitialised(2);
        _side.Source.OnReady();
        Assert.False(_side.Participant.Slice.Snapshot.Needs(entry));
        Assert.Equal(1, _side.Participant.Slice.Snapshot.KeptCount);
    }

    [Fact]
    public void What_only_the_snapshot_needed_goes_after_its_end()
    {
        var (removed, changed) = (Add(3, 0, version: 7), Add(3, 1, version: 8));
        Open();
        Change(removed, null, 0);
        Change(changed, [1], 20);
        _side.Participant.Slice.DropIfIdle(removed);
        Assert.Equal(2, _side.Participant.Slice.Table.Count);
        _side.Source.Close();
        Assert.True(_side.Source.HasWork);
        _side.Source.Tick();
        Assert.Equal((1, 0, false), (_side.Participant.Slice.Table.Count, _side.Participant.Slice.Snapshot.KeptCount, _side.Source.HasWork));
    }

    /// <summary>Kind 0: the key was absent. Kind 1: it had a value, and only that was asked. Kind 2: its value, with the version.</summary>
    [Fact]
    public void Single_keys_are_answered_as_they_were_when_the_view_began()
    {
        var (asked, removed) = (Add(3, 0, version: 7), Add(3, 1, version: 8));
        Open();
        Change(asked, [99], 20);
        Change(removed, null, 0);
        Fetch((true, asked.Key), (false, removed.Key), (true, TransferSide.KeyIn(3, 5)));
        var (rank, type, body) = Assert.Single(_side.TakeSent());
        Assert.Equal((Newcomer, DhtFrame.Fetched, "03" + "0207" + "0407070707" + "01" + "00"), (rank, type, Convert.ToHexString(body)));
    }

    [Fact]
    public void An_answer_ends_where_a_chunk_does_and_leaves_the_rest_to_be_asked_again()
    {
        for (int i = 0; i < 4; i++) Add(3, i, version: 10, bytes: 200_000);
        Open();
        Fetch([.. Enumerable.Range(0, 4).Select(static i => (true, TransferSide.KeyIn(3, i)))]);
        Assert.Equal(2, Assert.Single(_side.TakeSent()).Body[0]);
    }

    [Fact]
    public void One_question_for_single_keys_waits_for_room_and_a_second_is_refused()
    {
        var entry = Add(3, 0, version: 7);
        Open();
        _side.HasRoom = false;
        Pull();
        Fetch((false, entry.Key));
        Assert.Equal(0, _side.Refused(RefusalReason.Unexpected));
        Fetch((false, entry.Key));
        Assert.Equal(1, _side.Refused(RefusalReason.Unexpected));
        _side.HasRoom = true;
        _side.Source.OnRoom(Newcomer);
        Assert.Equal([DhtFrame.Fetched, DhtFrame.Chunk, DhtFrame.StateEnd], _side.TakeSent().Select(static frame => frame.Type));
    }

    [Theory]
    [InlineData("nothing")]
    [InlineData("of another shard")]
    [InlineData("with its state")]
    [InlineData("without a snapshot")]
    public void A_question_for_single_keys_that_no_newcomer_asks_is_refused(string what)
    {
        var entry = Add(3, 0, version: 7);
        if (what != "without a snapshot") Open();
        if (what == "with its state") _side.State.Map!.SetInitialised(2);
        if (what == "nothing") Fetch();
        else Fetch(what == "of another shard" ? 3 : Newcomer, (true, entry.Key));
        Assert.Empty(_side.TakeSent());
        Assert.Equal(1, _side.Refused(RefusalReason.Unexpected));
    }

    [Fact]
    public void A_key_without_its_map_is_malformed()
    {
        Open();
        Fetch((true, new byte[7]));
        Assert.Empty(_side.TakeSent());
        Assert.Equal(1, _side.Refused(RefusalReason.Malformed));
    }

    private void Open() => _side.Source.Open(Clock);

    private Entry Add(int range, int number, ulong version, int bytes = 4)
    {
        byte[] value = new byte[bytes];
        Array.Fill(value, (byte)7);
        return _side.Add(TransferSide.KeyIn(range, number), value, version);
    }

    private void Change(Entry entry, byte[]? value, ulong version)
    {
        _side.Participant.Slice.Snapshot.BeforeChange(entry);
        (entry.Value, entry.Version) = (value, version);
    }

    private void Pull(params (int Range, ulong Digest)[] held)
    {
        byte[] digests = new byte[8 * EntryTable.Ranges];
        foreach (var (range, digest) in held) BinaryPrimitives.WriteUInt64LittleEndian(digests.AsSpan(8 * range), digest);
        var body = new BodyReader(digests);
        _side.Source.OnPull(Newcomer, ref body);
    }

    private void Fetch(params (bool Whole, byte[] Key)[] keys) => Fetch(Newcomer, keys);

    private void Fetch(int from, params (bool Whole, byte[] Key)[] keys)
    {
        var to = new BodyWriter(new byte[10_000]);
        to.Var((ulong)keys.Length);
        foreach (var (whole, key) in keys)
        {
            to.U8((byte)(whole ? 1 : 0));
            to.Blob(key);
        }
        var body = new BodyReader(to.Written);
        _side.Source.OnFetch(from, ref body);
    }

    private List<string> Chunks() => [.. _side.TakeSent().Where(static frame => frame.Type == DhtFrame.Chunk).Select(static frame => Text(frame.Body))];

    /// <summary>The range, whether it is the first or the last chunk of it or both, and the versions of the entries, ascending.</summary>
    private static string Text(byte[] chunk)
    {
        var body = new BodyReader(chunk);
        int range = body.U8(), flags = body.U8();
        var versions = new List<ulong>();
        while (body.Remaining > 0)
        {
            Assert.Equal(range, EntryTable.RangeOf(KeyIdentity.PlaceOf(body.Blob(DhtLimits.KeyBytes))));
            versions.Add(body.Var());
            _ = body.Blob(DhtLimits.ValueBytes);
        }
        Assert.True(body.Complete);
        versions.Sort();
        return $"range {range}{flags switch { 1 => " first", 2 => " last", 3 => " whole", _ => "" }}:{string.Concat(versions.Select(static version => $" {version}"))}";
    }
}
