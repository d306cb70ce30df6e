using Ida.Ordering;

namespace Ida.Tests;

/// <summary>A session as it was at a view change, while its owner goes on (dht-view-change.md#outcomes-travel-with-the-state).</summary>
public sealed class SessionCutTests
{
    private const ulong View = 5;
    private readonly SessionTable _sessions = new();
    private readonly Session _session;

    public SessionCutTests()
    {
        _session = _sessions.GetOrAdd(7);
        foreach (ulong sequence in (ulong[])[2, 3, 5, 8]) _session.Record(Of(sequence, View - 1));
        _session.Acknowledge(2);
    }

    [Fact]
    public void A_cut_has_the_outcomes_of_earlier_views_in_order()
    {
        var cut = new SessionTableCut(_sessions, View);
        Assert.Equal(1, cut.Count);
        Assert.Equal((_session.Id, 2UL, 0UL, 4), (cut[0].Id, cut[0].AckedBelow, cut[0].LostIn, cut[0].Count));
        Assert.Equal([2, 3, 5, 8], All(cut[0]));
    }

    [Fact]
    public void A_cut_has_no_outcome_of_the_view_that_begins()
    {
        var cut = new SessionTableCut(_sessions, View);
        foreach (ulong sequence in (ulong[])[4, 9]) _session.Record(Of(sequence, View));
        Assert.Equal([2, 3, 5, 8], All(cut[0]));
    }

    [Fact]
    public void A_cut_keeps_what_the_owner_acknowledges_meanwhile()
    {
        var cut = new SessionTableCut(_sessions, View);
        _session.Record(Of(4, View));
        _session.Acknowledge(6);
        Assert.Equal([2, 3, 5, 8], All(cut[0]));
        Assert.Equal(2UL, cut[0].AckedBelow);
        _session.Acknowledge(100);
        Assert.Equal([2, 3, 5, 8], All(cut[0]));
        Assert.Equal(0, _session.OutcomeCount);
    }

    [Fact]
    public void A_cut_has_no_session_that_became_known_later()
    {
        var cut = new SessionTableCut(_sessions, View);
        Assert.Null(_sessions.GetOrAdd(8).Cut);
        Assert.Equal(1, cut.Count);
    }

    [Fact]
    public void Sessions_keep_nothing_for_a_cut_after_its_end_and_a_later_cut_stays()
    {
        var first = new SessionTableCut(_sessions, View);
        var second = new SessionTableCut(_sessions, View + 1);
        first.End();
        Assert.Same(second[0], _session.Cut);
        _session.Acknowledge(100);
        Assert.Equal([2, 3, 5, 8], All(second[0]));
        second.End();
        Assert.Null(_session.Cut);
        Assert.Equal((0, 0), (first.Count, second.Count));
    }

    private static Outcome Of(ulong sequence, ulong view) => new(sequence, view, 1, false, 1, new([sequence]), null);

    private static List<int> All(SessionCut cut)
    {
        var all = new List<int>();
        for (ulong next = 0; cut.TryNext(next, out var outcome); next = outcome.Sequence + 1) all.Add((int)outcome.Sequence);
        return all;
    }
}
