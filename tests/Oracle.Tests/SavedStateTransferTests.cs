using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>A saved state on its way to a replica, and as it arrives there.</summary>
public sealed class SavedStateTransferTests
{
    private const int Part = SnapshotChunk.MaxBytes, Total = (6 * Part) + 100;
    private readonly byte[] _bytes = [.. Enumerable.Range(0, Total).Select(static i => (byte)(i * 31 / 7))];
    private readonly SnapshotTransfer _transfer;

    public SavedStateTransferTests() => _transfer = new((7, 2, Configuration.Empty, _bytes), 0);

    [Fact]
    public void One_MiB_is_on_its_way_at_most()
    {
        Assert.Equal([0, Part, 2 * Part, 3 * Part], Sent());
        Assert.False(_transfer.IsIdle);
        _transfer.Held(Part, 1);
        Assert.Equal([4 * Part], Sent());
        _transfer.Held(5 * Part, 2);
        Assert.True(_transfer.IsIdle);
        Assert.Equal([5 * Part, 6 * Part], Sent());
        _transfer.Held(Total, 3);
        Assert.Empty(Sent());
        Assert.True(_transfer.IsIdle);
    }

    [Fact]
    public void Each_part_says_where_it_belongs()
    {
        var chunk = _transfer.Next(9, 0)!;
        Assert.Equal((9UL, 7UL, 2UL, 0, Total), (chunk.Term, chunk.LastIndex, chunk.LastTerm, chunk.Offset, chunk.Total));
        Assert.Equal(_bytes[..Part], chunk.Bytes.ToArray());
        Assert.Equal(7UL, _transfer.Index);
    }

    [Fact]
    public void Parts_are_overdue_when_nothing_is_taken_for_a_second_and_go_again_from_where_the_receiver_stands()
    {
        Sent();
        _transfer.Held(2 * Part, Durations.Second / 2);
        Assert.False(_transfer.IsOverdue((Durations.Second * 3 / 2) - 1));
        Assert.True(_transfer.IsOverdue(Durations.Second * 3 / 2));
        _transfer.Rewind(2 * Durations.Second);
        Assert.Equal([2 * Part, 3 * Part, 4 * Part, 5 * Part], Sent(2 * Durations.Second));
        Assert.False(_transfer.IsOverdue((3 * Durations.Second) - 1));
        Assert.True(_transfer.IsOverdue(3 * Durations.Second));
    }

    /// <summary>The time starts when the next part is sent.</summary>
    [Fact]
    public void Nothing_is_overdue_while_nothing_is_on_its_way()
    {
        Sent();
        _transfer.Held(4 * Part, 0);
        Assert.False(_transfer.IsOverdue(100 * Durations.Second));
        Sent(100 * Durations.Second);
        Assert.False(_transfer.IsOverdue((101 * Durations.Second) - 1));
        Assert.True(_transfer.IsOverdue(101 * Durations.Second));
    }

    [Fact]
    public void A_receiver_that_says_it_has_more_than_there_is_is_not_believed()
    {
        Sent();
        _transfer.Held(Total + 1, 0);
        Assert.Null(_transfer.Next(9, 0));
        Assert.False(_transfer.IsIdle);
    }

    [Fact]
    public void What_arrives_in_order_is_read_as_it_arrives_and_whole_at_its_end()
    {
        var restore = new Restore();
        var incoming = new IncomingState(9, 7, Total, restore);
        Arrive(incoming, restore);
        Assert.True(incoming.IsWhole && incoming.IsSound);
        Assert.Equal(_bytes, incoming.Bytes.ToArray());
        Assert.Equal([Part, 2 * Part, 3 * Part, 4 * Part, 5 * Part, 6 * Part, Total], restore.Read);
        Assert.False(restore.Finished);
        incoming.Finish();
        Assert.True(restore.Finished);
    }

    /// <summary>Such parts were sent twice, or follow one that was lost.</summary>
    [Fact]
    public void Parts_that_do_not_follow_are_left_out()
    {
        var incoming = new IncomingState(9, 7, Total, new Restore());
        incoming.Take(Chunk(Part));
        Assert.Equal(0, incoming.Count);
        incoming.Take(Chunk(0));
        incoming.Take(Chunk(0));
        Assert.Equal(Part, incoming.Count);
        incoming.Take(Chunk(2 * Part));
        Assert.Equal(Part, incoming.Count);
    }

    [Fact]
    public void A_part_that_goes_beyond_the_end_is_left_out()
    {
        var incoming = new IncomingState(9, 7, 100, new Restore());
        incoming.Take(new(9, 7, 2, Configuration.Empty, 0, 100, new byte[101]));
        Assert.Equal(0, incoming.Count);
    }

    [Fact]
    public void Bytes_that_are_no_saved_state_are_never_sound_again()
    {
        var restore = new Restore { Bad = 2 * Part };
        var incoming = new IncomingState(9, 7, Total, restore);
        Arrive(incoming, restore);
        Assert.True(incoming.IsWhole);
        Assert.False(incoming.IsSound);
        Assert.Equal([Part, 2 * Part], restore.Read);
    }

    [Theory]
    [InlineData(9, 7, Total, true)]
    [InlineData(8, 7, Total, false)]
    [InlineData(9, 6, Total, false)]
    [InlineData(9, 7, Total - 1, false)]
    public void A_part_belongs_to_a_state_of_its_leader_its_place_and_its_size(int term, int index, int total, bool belongs)
    {
        var chunk = new SnapshotChunk((ulong)term, (ulong)index, 2, Configuration.Empty, 0, total, Array.Empty<byte>());
        Assert.Equal(belongs, new IncomingState(9, 7, Total, new Restore()).IsOf(chunk));
    }

    private void Arrive(IncomingState incoming, Restore restore)
    {
        for (int offset = 0; offset < Total; offset += Part)
        {
            incoming.Take(Chunk(offset));
            Assert.Equal(Math.Min(offset + Part, Total), incoming.Count);
        }
        Assert.NotEmpty(restore.Read);
    }

    private SnapshotChunk Chunk(int offset) => new(9, 7, 2, Configuration.Empty, offset, Total, _bytes.AsMemory(offset, Math.Min(Part, Total - offset)));

    private List<int> Sent(long now = 0)
    {
        var offsets = new List<int>();
        while (_transfer.Next(9, now) is { } chunk) offsets.Add(chunk.Offset);
        return offsets;
    }

    private sealed class Restore : IRestore
    {
        public int Bad { get; init; } = -1;

        public List<int> Read { get; } = [];

        public bool Finished { get; private set; }

        public bool TryRead(ReadOnlySpan<byte> come, bool all)
        {
            Read.Add(come.Length);
            Assert.Equal(come.Length == Total, all);
            return come.Length != Bad;
        }

        public void Finish() => Finished = true;
    }
}
