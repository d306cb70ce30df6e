using GroupCore.Membership;
using Oracle.Client;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>The groups that a process knows it is in, or waits to join. It asks the Oracle about them.</summary>
public sealed class KnownGroupsTests
{
    private static readonly GroupId Group = new(1, 1);
    private readonly KnownGroups _groups = new();

    [Fact]
    public void A_proposal_counts_for_groups_of_this_process_and_for_those_that_it_joins_by_it()
    {
        Assert.False(_groups.TakePropose(Proposal(5, 1), concerned: false));
        Assert.False(_groups.Has(Group));
        Assert.True(_groups.TakePropose(Proposal(5, 1), concerned: true));
        Assert.True(_groups.TakePropose(Proposal(4, 1), concerned: false));
        Assert.Equal((Known[])[new(Group, 0, 5)], _groups.Known());
    }

    [Fact]
    public void A_group_is_waited_for_until_there_is_a_view_with_this_process()
    {
        _groups.Accepted(Group);
        Assert.Equal([Group], _groups.Awaited());
        Assert.True(_groups.TakeInstall(View(3, 0, 1), Self));
        Assert.Empty(_groups.Awaited());
        Assert.Equal((3UL, 1), (_groups.ViewOf(Group), _groups.Count));
        Assert.Equal((Known[])[new(Group, 3, 0)], _groups.Known());
    }

    [Fact]
    public void A_process_that_waits_no_longer_forgets_the_group_and_a_member_does_not()
    {
        _groups.Accepted(Group);
        _groups.GiveUp(Group);
        Assert.False(_groups.Has(Group));
        _groups.TakeInstall(View(3, 0, 1), Self);
        _groups.GiveUp(Group);
        Assert.True(_groups.Has(Group));
    }

    /// <summary>The view is older than this process's request to join, so the process goes on waiting.</summary>
    [Fact]
    public void A_view_without_this_process_ends_nothing_where_there_was_none_with_it()
    {
        _groups.Accepted(Group);
        Assert.False(_groups.TakeInstall(View(3, 1), Self));
        Assert.True(_groups.Has(Group));
        Assert.False(new KnownGroups().TakeInstall(View(3, 1), Self));
    }

    [Fact]
    public void A_later_view_without_this_process_is_the_end_and_what_is_older_concerns_it_no_more()
    {
        _groups.TakeInstall(View(3, 0, 1), Self);
        Assert.False(_groups.TakeInstall(View(2, 1), Self));
        Assert.True(_groups.TakeInstall(View(4, 1), Self));
        Assert.False(_groups.Has(Group));
        Assert.False(_groups.TakePropose(Proposal(9, baseView: 3), concerned: true));
        Assert.True(_groups.TakePropose(Proposal(9, baseView: 4), concerned: true));
    }

    [Fact]
    public void Members_that_a_proposal_does_not_name_are_excluded()
    {
        _groups.TakeInstall(View(3, 0, 1, 2, 3), Self);
        var proposal = new Proposal(Group, 9, 3, [FlatView.Id(0), FlatView.Id(3)], [FlatView.Id(1)], []);
        Assert.Equal([FlatView.Id(2)], _groups.FailedOf(proposal));
        Assert.Empty(_groups.FailedOf(proposal with { Survivors = [FlatView.Id(0), FlatView.Id(2), FlatView.Id(3)] }));
        // This proposal follows another view, whose members are not known here.
        Assert.Empty(_groups.FailedOf(proposal with { BaseView = 4 }));
    }

    [Fact]
    public void What_the_group_layer_knows_replaces_what_was_noted()
    {
        _groups.TakeInstall(View(3, 0, 1), Self);
        _groups.TakePropose(Proposal(9, 3), concerned: false);
        _groups.Set(Group, 2, 7);
        Assert.Equal((Known[])[new(Group, 2, 7)], _groups.Known());
        _groups.Set(new(5, 5), 1, 1);
        Assert.Equal(1, _groups.Count);
    }

    [Fact]
    public void A_process_is_in_no_more_groups_than_its_limit()
    {
        for (uint number = 1; number <= Limits.GroupsPerProcess + 10; number++) _groups.Accepted(new(number, 1));
        Assert.Equal(Limits.GroupsPerProcess, _groups.Count);
    }

    [Fact]
    public void A_group_ends_once()
    {
        _groups.Accepted(Group);
        Assert.True(_groups.End(Group));
        Assert.False(_groups.End(Group));
    }

    private static ProcessId Self => FlatView.Id(0);

    private static Proposal Proposal(ulong number, ulong baseView) => new(Group, number, baseView, [], [], []);

    private static View View(ulong id, params int[] members) => FlatView.Of(id, members);
}
