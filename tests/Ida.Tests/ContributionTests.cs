using System.Buffers;
using Ida.Maps;
using Ida.Shared;
using Ida.ViewChange;

namespace Ida.Tests;

/// <summary>What a survivor says at a view change, read as bytes from somebody else (dht-view-change.md#messages).</summary>
public sealed class ContributionTests
{
    private static readonly MapSet Maps = MapSet.Of([new("a", "k", "v", "", ["w"])]);

    [Fact]
    public void What_is_written_is_read()
    {
        var said = Of(slot: 3, enabled: true, leaving: true, op: new(new(new(9, 4), 2, 77), 5, 6, [1, 3]));
        var read = Contribution.Read(said.Member, Bytes(said))!;
        Assert.Equal((said.Member, said.Config, said.Session, said.Incarnation, said.Admitted, said.Slot), (read.Member, read.Config, read.Session, read.Incarnation, read.Admitted, read.Slot));
        Assert.Equal((true, false, true, said.Physical, said.Committed), (read.Enabled, read.Initialised, read.Leaving, read.Physical, read.Committed));
        Assert.True(read.Maps.IsSame(said.Maps));
        var op = Assert.Single(read.Unsettled);
        Assert.Equal((said.Unsettled[0].Key, 5UL, 6UL), (op.Key, op.Proposed, op.Time));
        Assert.Equal(said.Unsettled[0].Participants, op.Participants);
    }

    [Theory]
    [InlineData(-1, true)]
    [InlineData(65_534, true)]
    [InlineData(65_535, false)]
    public void A_slot_is_none_or_one_that_participants_can_name(int slot, bool taken) => Assert.Equal(taken ? slot : (int?)null, Read(Of(slot: slot))?.Slot);

    [Fact]
    public void Nothing_that_was_cut_and_nothing_with_more_behind_is_read()
    {
        byte[] whole = Bytes(Of(op: new(new(new(9, 4), 2, 77), 5, 6, [1, 3])));
        for (int length = 0; length < whole.Length; length++) Assert.Null(Contribution.Read(FlatView.Id(0), whole.AsSpan(0, length)));
        Assert.Null(Contribution.Read(FlatView.Id(0), [.. whole, 0]));
    }

    [Fact]
    public void Another_version_is_not_read()
    {
        byte[] bytes = Bytes(Of());
        bytes[0]++;
        Assert.Null(Contribution.Read(FlatView.Id(0), bytes));
    }

    [Theory]
    [InlineData(0, 4, false)]
    [InlineData(2, 0, false)]
    [InlineData(2, 5, false)]
    [InlineData(2, 65_536, false)]
    [InlineData(1, 65_535, true)]
    public void Sizes_that_no_options_have_are_not_read(int shard, int target, bool taken) => Assert.Equal(taken, Read(Of(config: new(shard, target, "h"))) is not null);

    [Fact]
    public void A_hash_with_a_longer_name_than_options_may_have_is_not_read()
    {
        Assert.NotNull(Read(Of(config: new(2, 4, new('h', DhtConfig.MaxHashName)))));
        Assert.Null(Read(Of(config: new(2, 4, new('h', DhtConfig.MaxHashName + 1)))));
    }

    [Theory]
    [InlineData("physical")]
    [InlineData("committed")]
    [InlineData("proposed")]
    [InlineData("time")]
    public void A_time_that_no_clock_reaches_is_not_read(string which)
    {
        Assert.NotNull(Read(With(HybridClock.MaxTime)));
        Assert.Null(Read(With(HybridClock.MaxTime + 1)));

        Contribution With(ulong time) => Of(physical: which == "physical" ? time : 1, committed: which == "committed" ? time : 1,
            op: new(new(new(9, 4), 2), which == "proposed" ? time : 1, which == "time" ? time : 1, [1]));
    }

    /// <summary>A session id is made of the member that says it.</summary>
    [Fact]
    public void A_member_cannot_claim_the_session_of_another()
    {
        byte[] bytes = Bytes(Of());
        Assert.NotEqual(Contribution.Read(FlatView.Id(0), bytes)!.Session, Contribution.Read(FlatView.Id(1), bytes)!.Session);
    }

    /// <summary>Most members declare the same, and declarations may be long.</summary>
    [Fact]
    public void Declarations_that_are_those_of_another_member_are_read_once()
    {
        byte[] bytes = Bytes(Of());
        var first = Contribution.Read(FlatView.Id(0), bytes)!;
        Assert.Same(first.Maps, Contribution.Read(FlatView.Id(1), bytes, [first.Maps])!.Maps);
        Assert.NotSame(first.Maps, Contribution.Read(FlatView.Id(1), bytes, [MapSet.Of([])])!.Maps);
    }

    private static Contribution Of(int slot = 0, bool enabled = true, bool leaving = false, DhtConfig? config = null, ulong physical = 10, ulong committed = 20, UnsettledOperation? op = null)
    {
        var one = new Contribution
        {
            Member = FlatView.Id(0), Config = config ?? new(2, 4, "hash"), Maps = Maps, Enabled = enabled, Leaving = leaving, Session = SessionId.Of(FlatView.Id(0), 300), Incarnation = 400, Admitted = 500,
            Slot = slot, Physical = physical, Committed = committed,
        };
        if (op is { } held) one.Unsettled.Add(held);
        return one;
    }

    private static Contribution? Read(Contribution said) => Contribution.Read(said.Member, Bytes(said));

    private static byte[] Bytes(Contribution said)
    {
        var into = new ArrayBufferWriter<byte>();
        said.Write(into);
        return into.WrittenSpan.ToArray();
    }
}
