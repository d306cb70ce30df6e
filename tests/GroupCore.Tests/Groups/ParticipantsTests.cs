using GroupCore.Groups.Shared;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>Who takes part in a view flush, and who leads it.</summary>
public sealed class ParticipantsTests
{
    private readonly Participants _participants = new(FlatView.Of(4));

    [Fact]
    public void In_normal_operation_nobody_takes_part_in_a_flush()
    {
        Assert.Null(_participants.Proposal);
        Assert.Equal((0UL, 4), (_participants.Wedge, _participants.Count));
        Assert.DoesNotContain(true, Ranks());
    }

    [Fact]
    public void Survivors_and_leavers_take_part_and_those_who_join_do_not()
    {
        _participants.Begin(Of(7, [0, 2], [3], joiners: [9]));
        Assert.Equal([true, false, true, true], Ranks());
        Assert.Equal(7UL, _participants.Wedge);
    }

    [Fact]
    public void A_higher_proposal_begins_anew()
    {
        _participants.Begin(Of(7, [0, 2], [3]));
        _participants.Begin(Of(8, [1, 2], []));
        Assert.Equal([false, true, true, false], Ranks());
        Assert.Equal(8UL, _participants.Wedge);
    }

    [Fact]
    public void A_process_that_is_no_member_of_the_view_takes_no_part()
    {
        _participants.Begin(Of(7, [0, 50], [60]));
        Assert.Equal([true, false, false, false], Ranks());
    }

    /// <summary>Members with the state come before those without it, then survivors before leavers, then the lowest rank.</summary>
    [Theory]
    [InlineData(new[] { 1, 2 }, new[] { 0 }, 2, 1)]
    [InlineData(new[] { 2, 3 }, new[] { 1 }, 2, 1)]
    [InlineData(new[] { 3, 2 }, new[] { 1 }, 0, 2)]
    [InlineData(new int[0], new[] { 3, 1 }, 0, 1)]
    [InlineData(new[] { 50 }, new[] { 60 }, 4, -1)]
    public void The_lowest_survivor_with_the_state_leads_the_flush(int[] survivors, int[] leavers, int initialised, int leader) =>
        Assert.Equal(leader, Of(7, survivors, leavers).LeaderIn(FlatView.Of(4, initialised: initialised)));

    private static Proposal Of(ulong number, int[] survivors, int[] leavers, int[]? joiners = null) =>
        new(new(1, 1), number, 1, [.. survivors.Select(FlatView.Id)], [.. leavers.Select(FlatView.Id)], [.. (joiners ?? []).Select(static one => new ViewMember(FlatView.Id(one), new("h"), false, ""))]);

    private IEnumerable<bool> Ranks() => Enumerable.Range(0, 4).Select(rank => _participants[rank]);
}
