using System.Buffers;
using GroupCore.Groups;
using Ida.Maps;
using Ida.Placement;
using Ida.Shared;
using Ida.ViewChange;

namespace Ida.Tests;

/// <summary>
/// What all members compute from what the survivors of a view say (dht-view-change.md#commit-what-all-surviving-participants-hold, #drop-what-a-survivor-lacks). The slots are in
/// two shards. Unless a test says otherwise, the member of rank r has slot r, and a put has its keys in the first shard, at slots 0 and 2.
/// </summary>
public sealed class DecisionTests
{
    private static readonly DhtConfig Config = new(2, 4, "hash");
    private static readonly ushort[] Shard = [0, 2];

    [Fact]
    public void A_put_that_all_its_participants_hold_is_committed_at_their_latest_proposal()
    {
        var decision = Decide(Member(0, Put(5)), Member(1), Member(2, Put(9)), Member(3));
        Assert.Equal(9UL, TimeOf(decision, Shard));
    }

    [Fact]
    public void A_put_that_a_surviving_participant_lacks_is_dropped() => Assert.Null(TimeOf(Decide(Member(0, Put(5)), Member(1), Member(2), Member(3)), Shard));

    [Fact]
    public void A_participant_that_has_gone_is_not_missed() => Assert.Equal(5UL, TimeOf(Decide(Member(0, Put(5)), Member(1), Member(3)), Shard));

    /// <summary>A put that has a time was committed, and somebody may have been told so.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_put_whose_time_one_participant_knows_is_committed_at_it(bool otherHolds)
    {
        var other = otherHolds ? Member(2, Put(9)) : Member(2);
        Assert.Equal(7UL, TimeOf(Decide(Member(0, Put(5, time: 7)), Member(1), other, Member(3)), Shard));
    }

    [Fact]
    public void What_a_member_says_of_a_put_in_which_it_takes_no_part_does_not_count()
    {
        var decision = Decide(Member(0, Put(5)), Member(1, Put(5, time: 7)), Member(2), Member(3, Put(8)));
        Assert.Null(TimeOf(decision, Shard));
    }

    /// <summary>All holders of one put name the same participants.</summary>
    [Fact]
    public void A_put_that_is_named_with_other_participants_is_another()
    {
        var decision = Decide(Member(0, Put(5)), Member(1), Member(2, Put(9, 0, 0, 1, 2)), Member(3));
        Assert.Null(TimeOf(decision, Shard));
        Assert.Null(TimeOf(decision, [0, 1, 2]));
        decision = Decide(Member(0, Put(5)), Member(1), Member(2, Put(9, 11, 0, 1, 2)), Member(3));
        Assert.Null(TimeOf(decision, Shard));
        Assert.Equal(11UL, TimeOf(decision, [0, 1, 2]));
    }

    [Fact]
    public void A_member_that_names_a_put_twice_holds_it_once() => Assert.Null(TimeOf(Decide(Member(0, Put(5), Put(5)), Member(1), Member(2), Member(3)), Shard));

    [Fact]
    public void Attempts_at_one_put_are_decided_each_by_itself()
    {
        var second = Put(6) with { Key = new(new(7, 1), 2) };
        var decision = Decide(Member(0, Put(5), second), Member(1), Member(2, second), Member(3));
        Assert.Null(TimeOf(decision, Shard));
        Assert.True(decision.TryCommit(second.Key, Shard, out ulong time));
        Assert.Equal(6UL, time);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Without_the_rules_a_put_that_all_hold_and_one_that_one_lacks_end_alike(bool committed)
    {
        var without = DhtRules.Without(committed ? nameof(DhtRules.FlushNeedsAllHolders) : nameof(DhtRules.FlushCommitsHeld));
        Contribution[] some = [Member(0, Put(5)), Member(1), Member(2), Member(3)], all = [Member(0, Put(5)), Member(1), Member(2, Put(5)), Member(3)];
        Assert.Equal((committed, committed), (TimeOf(Decide(some, without), Shard) is not null, TimeOf(Decide(all, without), Shard) is not null));
    }

    /// <summary>A single member may lie or have a wrong clock; two together are believed.</summary>
    [Fact]
    public void A_time_counts_up_to_two_jumps_beyond_where_two_members_stand()
    {
        var decision = Decide(At(0, 4, 0, Put(5, time: HybridClock.MaxTime)), At(1, 9), At(2, 8), At(3, 1));
        Assert.Equal(8 * HybridClock.Jump, decision.Ground);
        Assert.Equal(10 * HybridClock.Jump, TimeOf(decision, Shard));
    }

    [Fact]
    public void A_member_stands_where_its_clock_or_its_commits_are()
    {
        Assert.Equal(3 * HybridClock.Jump, Decide(At(0, 1, committed: 9), At(1, 3)).Ground);
        Assert.Equal(9 * HybridClock.Jump, Decide(At(0, 1, committed: 9)).Ground);
    }

    /// <summary>A single wrong clock does not move the middle far. Of two clocks the lower one is taken, which is never out of range.</summary>
    [Theory]
    [InlineData(1, new[] { 1 })]
    [InlineData(1, new[] { 9, 1 })]
    [InlineData(4, new[] { 4, 900, 1 })]
    [InlineData(4, new[] { 900, 4, 5, 1 })]
    public void Clocks_are_aligned_with_the_middle_one(int middle, int[] clocks) =>
        Assert.Equal((ulong)middle * HybridClock.Jump, Decide([.. clocks.Select(static (clock, rank) => At(rank, (ulong)clock))]).Physical);

    [Fact]
    public void All_members_hear_of_the_latest_commit_also_of_one_that_is_decided_now()
    {
        Assert.Equal(3 * HybridClock.Jump, Decide(At(0, 0, committed: 3), At(1, 2)).Committed);
        Assert.Equal(9UL, Decide(Member(0, Put(5)), Member(1), Member(2, Put(9)), Member(3)).Committed);
        Assert.Equal(0UL, Decide(Member(0, Put(5)), Member(1), Member(2), Member(3)).Committed);
    }

    [Fact]
    public void The_DHT_is_founded_when_there_is_a_member_for_each_shard_in_the_order_of_ranks()
    {
        var decision = Decide(Comer(0), Comer(1), Comer(2));
        Assert.Equal((DecisionKind.Serving, true, 5UL, 3), (decision.Kind, decision.Founded, decision.Incarnation, decision.Enabled));
        Assert.Equal((SlotState[])[new(FlatView.Id(0), true), new(FlatView.Id(1), true), new(FlatView.Id(2), true)], decision.Slots);
    }

    [Fact]
    public void Fewer_members_than_shards_wait_for_more()
    {
        var decision = Decide(Comer(0));
        Assert.Equal((DecisionKind.Waiting, false, 1), (decision.Kind, decision.Founded, decision.Enabled));
        Assert.Empty(decision.Slots);
        Assert.Equal(DecisionKind.Waiting, Decide().Kind);
    }

    [Fact]
    public void Before_the_foundation_the_options_of_the_member_that_was_admitted_first_count()
    {
        var decision = Decide(Comer(0, new(2, 6, "hash"), admitted: 4), Comer(1, new(2, 6, "hash")), Comer(2, admitted: 3), Comer(3));
        Assert.Equal([FlatView.Id(2), FlatView.Id(3)], decision.Slots.Select(static slot => slot.Member));
        Assert.Equal("TargetSize is 6 here and 4 there", decision.Refusal(FlatView.Id(0)));
        Assert.NotNull(decision.Refusal(FlatView.Id(1)));
        Assert.Null(decision.Refusal(FlatView.Id(2)));
    }

    [Fact]
    public void A_newcomer_with_other_options_than_the_members_is_refused_and_one_with_theirs_fills_a_hole()
    {
        var decision = Decide(Member(0), Member(1), Member(3), Comer(4, new(2, 4, "other"), admitted: 1), Comer(5));
        Assert.Equal("the hash function is other here and hash there", decision.Refusal(FlatView.Id(4)));
        Assert.Equal(new SlotState(FlatView.Id(5), false), decision.Slots[2]);
        Assert.Equal((DecisionKind.Serving, false), (decision.Kind, decision.Founded));
        Assert.Equal(4, decision.Slots.Count);
    }

    /// <summary>With other options its keys would lie elsewhere.</summary>
    [Fact]
    public void A_member_that_says_it_has_other_options_than_the_oldest_is_refused()
    {
        var decision = Decide(Member(0), Member(1), Member(2), Of(3, 3, config: new(4, 4, "hash")));
        Assert.NotNull(decision.Refusal(FlatView.Id(3)));
        Assert.Null(decision.Refusal(FlatView.Id(0)));
    }

    [Fact]
    public void A_shard_that_has_lost_its_last_member_with_the_state_is_lost()
    {
        Assert.Equal((DecisionKind.Depopulated, 0), Lost(Decide(Member(1), Member(3), Comer(4))));
        Assert.Equal((DecisionKind.Depopulated, 0), Lost(Decide(Of(0, 0, initialised: false), Member(1), Member(3))));
        Assert.Equal((DecisionKind.Depopulated, 1), Lost(Decide(Member(0))));
        Assert.Equal((DecisionKind.Serving, -1), Lost(Decide(Of(0, 0, initialised: false), Member(1), Member(2))));

        static (DecisionKind, int) Lost(Decision decision) => (decision.Kind, decision.DepopulatedShard);
    }

    [Fact]
    public void A_member_that_leaves_has_no_slot_where_another_has_the_state()
    {
        var decision = Decide(Member(0), Member(1), Member(2), Of(3, 3, leaving: true));
        Assert.Equal([FlatView.Id(0), FlatView.Id(1), FlatView.Id(2)], decision.Slots.Select(static slot => slot.Member));
        Assert.Equal(DecisionKind.Serving, decision.Kind);
    }

    [Fact]
    public void Sessions_are_those_of_the_members_with_slots_in_the_order_of_the_slots()
    {
        var decision = Decide(Of(0, 3), Of(1, 0), Of(2, 1), Of(3, 2), Comer(4, new(1, 4, "hash")));
        Assert.Equal([SessionOf(1), SessionOf(2), SessionOf(3), SessionOf(0)], decision.Sessions);
        Assert.Equal(SessionOf(4), decision.SessionOf(FlatView.Id(4)));
        Assert.Equal(UInt128.Zero, decision.SessionOf(FlatView.Id(9)));
    }

    /// <summary>Its DHT has ended; the member has been told so, or will be.</summary>
    [Fact]
    public void A_member_of_an_earlier_DHT_is_neither_member_nor_newcomer()
    {
        var decision = Decide(Member(0), Member(1), Member(2), Of(3, 3, incarnation: 1));
        Assert.Equal(2UL, decision.Incarnation);
        Assert.DoesNotContain(decision.Slots, static slot => slot.Member == FlatView.Id(3));
        Assert.Null(decision.Refusal(FlatView.Id(3)));
    }

    [Fact]
    public void What_is_no_contribution_of_a_member_of_the_next_view_counts_nothing()
    {
        List<LayerContribution> all = [.. new[] { Member(0, Put(5)), Member(1), Member(2, Put(5)), Of(3, 3, enabled: false), Member(7, Put(5, time: 7)) }.Select(Written)];
        all.Add(new(FlatView.Id(4), new byte[] { 1, 2, 3 }));
        var decision = Decision.Decide(all, FlatView.Of(5));
        Assert.Equal(5UL, TimeOf(decision, Shard));
        Assert.Equal(3, decision.Sessions.Count);
    }

    private static UInt128 SessionOf(int rank) => SessionId.Of(FlatView.Id(rank), 1);

    private static Contribution Member(int rank, params UnsettledOperation[] holds) => Of(rank, rank, holds: holds);

    private static Contribution Comer(int rank, DhtConfig? config = null, ulong admitted = 0) => Of(rank, -1, initialised: false, incarnation: 0, config: config, admitted: admitted);

    private static Contribution Of(int rank, int slot, bool initialised = true, ulong incarnation = 2, DhtConfig? config = null, ulong admitted = 1, bool enabled = true, bool leaving = false,
        UnsettledOperation[]? holds = null, ulong physical = 0, ulong committed = 0)
    {
        var one = new Contribution
        {
            Member = FlatView.Id(rank), Config = config ?? Config, Maps = MapSet.Of([]), Enabled = enabled, Session = SessionOf(rank), Incarnation = incarnation, Admitted = admitted, Slot = slot,
            Initialised = initialised, Leaving = leaving, Physical = physical * HybridClock.Jump, Committed = committed * HybridClock.Jump,
        };
        one.Unsettled.AddRange(holds ?? []);
        return one;
    }

    /// <summary>A member whose clock, and whose latest commit, are so many jumps after the beginning.</summary>
    private static Contribution At(int rank, ulong clock, ulong committed = 0, params UnsettledOperation[] holds) => Of(rank, rank, holds: holds, physical: clock, committed: committed);

    private static UnsettledOperation Put(ulong proposed, ulong time = 0, params ushort[] participants) => new(new(new(7, 1), 1), proposed, time, participants.Length == 0 ? Shard : participants);

    private static LayerContribution Written(Contribution one)
    {
        var into = new ArrayBufferWriter<byte>();
        one.Write(into);
        return new(one.Member, into.WrittenMemory);
    }

    private static Decision Decide(params Contribution[] said) => Decide(said, DhtRules.All);

    private static Decision Decide(Contribution[] said, DhtRules rules) => Decision.Decide([.. said.Select(Written)], FlatView.Of(10, id: 5), rules);

    private static ulong? TimeOf(Decision decision, ushort[] participants) => decision.TryCommit(new(new(7, 1), 1), participants, out ulong time) ? time : null;
}
