using Ida.Ordering;

namespace Ida.Tests;

/// <summary>Which sessions a slice knows, for how long, and what they may take (dht-order.md#one-outcome-per-put).</summary>
public sealed class SessionTableTests
{
    private readonly SessionTable _sessions = new();

    [Fact]
    public void A_session_is_one_object_from_when_it_is_named()
    {
        Assert.Null(_sessions.Find(7));
        var session = _sessions.GetOrAdd(7);
        Assert.Same(session, _sessions.GetOrAdd(7));
        Assert.Same(session, _sessions.Find(7));
        _sessions.GetOrAdd(3);
        Assert.Equal([7, 3], _sessions.All.Select(static one => (int)one.Id));
    }

    [Fact]
    public void A_session_is_lost_in_the_first_view_without_its_member_and_counts_from_there()
    {
        Update(5, 1, 2);
        var session = _sessions.Find(2)!;
        Assert.Equal((0UL, false), (session.LostIn, session.IsLost));
        Update(6, 1);
        Update(7, 1);
        Assert.Equal((6UL, true), (session.LostIn, session.IsLost));
        Assert.Equal(1, _sessions.Members);
        Update(8, 1, 2);
        Assert.Same(session, _sessions.Find(2));
        Assert.False(session.IsLost);
    }

    /// <summary>If replicas know such a session, it comes with the state.</summary>
    [Fact]
    public void A_session_that_was_only_asked_for_is_forgotten_with_the_view()
    {
        Update(5, 1);
        _sessions.GetOrAdd(9).LostIn = Session.NotHeard;
        Update(6, 1);
        Assert.Null(_sessions.Find(9));
        Assert.Single(_sessions.All);
    }

    /// <summary>The member may have a part of a session that the next source has forgotten, and with a part of the outcomes a put could be applied again.</summary>
    [Fact]
    public void A_member_without_its_state_keeps_no_session_of_departed_members()
    {
        Update(5, 1, 2);
        _sessions.Update([1], 6, initialised: false, long.MaxValue);
        Assert.Null(_sessions.Find(2));
        Assert.NotNull(_sessions.Find(1));
    }

    [Fact]
    public void Sessions_of_departed_members_beyond_their_bytes_are_forgotten_as_a_whole_the_longest_lost_first()
    {
        Update(5, 1, 2, 3, 4);
        foreach (var session in _sessions.All) Record(session, 10);
        long each = _sessions.Find(1)!.OutcomeBytes;
        Update(6, 1, 3, 4);
        Update(7, 1, 4);
        Update(8, 1);
        Assert.Equal((3 * each, 4 * each), (_sessions.LostBytes, _sessions.OutcomeBytes));
        _sessions.Update([1], 9, initialised: true, (3 * each) - 1);
        Assert.Null(_sessions.Find(2));
        Assert.Equal((10, 10), (_sessions.Find(3)!.OutcomeCount, _sessions.Find(4)!.OutcomeCount));
        Assert.Equal(2 * each, _sessions.LostBytes);
    }

    [Fact]
    public void The_session_that_was_lost_last_stays_whatever_it_takes()
    {
        Update(5, 1, 2, 3);
        foreach (var session in _sessions.All) Record(session, 10);
        Update(6, 1, 3);
        _sessions.Update([1], 7, initialised: true, 0);
        Assert.Null(_sessions.Find(2));
        Assert.Equal(10, _sessions.Find(3)!.OutcomeCount);
    }

    /// <summary>The bytes of present members are bounded by what each may take, and do not count here.</summary>
    [Fact]
    public void Only_outcomes_of_departed_members_count_as_lost_bytes()
    {
        Update(5, 1, 2);
        Record(_sessions.Find(1)!, 3);
        Assert.Equal(0, _sessions.LostBytes);
        Update(6, 1);
        Record(_sessions.Find(2)!, 3);
        Assert.Equal(_sessions.Find(2)!.OutcomeBytes, _sessions.LostBytes);
        Assert.Equal(_sessions.LostBytes, _sessions.Find(1)!.OutcomeBytes);
    }

    [Fact]
    public void A_transfer_names_known_sessions_as_often_as_it_likes_and_as_many_others_as_a_source_keeps()
    {
        Update(5, 1);
        for (uint i = 0; i < SessionTable.KeptLost; i++) Assert.NotNull(_sessions.Receive(100 + i));
        Assert.Null(_sessions.Receive(99));
        Assert.Null(_sessions.Find(99));
        for (int i = 0; i < 1_000; i++) Assert.Same(_sessions.Find(1), _sessions.Receive(1));
        Update(6, 1);
        Assert.NotNull(_sessions.Receive(99));
    }

    /// <summary>Nobody knows whether such a session exists, so it counts among those that a source has besides the members'.</summary>
    [Fact]
    public void A_session_that_was_only_asked_for_counts_when_a_transfer_names_it()
    {
        for (uint i = 0; i <= SessionTable.KeptLost; i++) _sessions.GetOrAdd(100 + i).LostIn = Session.NotHeard;
        for (uint i = 0; i < SessionTable.KeptLost; i++) Assert.NotNull(_sessions.Receive(100 + i));
        Assert.Null(_sessions.Receive(100 + SessionTable.KeptLost));
    }

    [Fact]
    public void Refused_attempts_of_sessions_that_nobody_has_heard_of_are_bounded_together()
    {
        const int Each = 4_000;
        Update(5, 1);
        int refused = 0;
        for (uint id = 100; id < 120; id++)
        {
            var session = _sessions.GetOrAdd(id);
            session.LostIn = Session.NotHeard;
            for (uint i = 1; i <= Each; i++)
                if (_sessions.TryRefuse(session, new(new(id, i), 1), issued: false)) refused++;
        }
        Assert.Equal(SessionTable.MostRefusedUnheard, refused);
        // What is refused already stays refused, and a member's session does not count.
        Assert.True(_sessions.TryRefuse(_sessions.Find(100)!, new(new(100, 1), 1), issued: false));
        Assert.True(_sessions.TryRefuse(_sessions.Find(1)!, new(new(1, 1), 1), issued: false));
        Assert.False(_sessions.TryRefuse(_sessions.Find(119)!, new(new(119, Each + 1), 1), issued: true));
        Update(6, 1);
        var again = _sessions.GetOrAdd(119);
        again.LostIn = Session.NotHeard;
        Assert.True(_sessions.TryRefuse(again, new(new(119, 1), 1), issued: false));
    }

    [Fact]
    public void An_attempt_refused_on_its_issuers_word_refuses_those_below_and_on_anothers_word_itself_alone()
    {
        Update(5, 1, 2);
        var session = _sessions.Find(1)!;
        Assert.True(_sessions.TryRefuse(session, new(new(1, 7), 3), issued: true));
        Assert.True(_sessions.TryRefuse(session, new(new(1, 8), 3), issued: false));
        Assert.True(session.IsRejected(new(new(1, 7), 2)) && session.IsRejected(new(new(1, 8), 3)));
        Assert.False(session.IsRejected(new(new(1, 8), 2)) || session.IsRejected(new(new(1, 7), 4)));
    }

    [Fact]
    public void A_table_that_was_cleared_knows_nothing_and_counts_anew()
    {
        Update(5, 1, 2);
        Update(6, 1);
        Record(_sessions.Find(2)!, 3);
        for (uint i = 0; i < SessionTable.KeptLost; i++) _sessions.Receive(100 + i);
        _sessions.Clear();
        Assert.Empty(_sessions.All);
        Assert.Null(_sessions.Find(2));
        Assert.Equal((0L, 0L), (_sessions.LostBytes, _sessions.OutcomeBytes));
        Assert.NotNull(_sessions.Receive(2));
    }

    private void Update(ulong view, params uint[] members) => _sessions.Update([.. members.Select(static id => (UInt128)id)], view, initialised: true, long.MaxValue);

    private void Record(Session session, int count)
    {
        ulong first = session.OutcomeCount == 0 ? 1 : session.OutcomeAt(session.OutcomeCount - 1).Sequence + 1;
        for (ulong i = 0; i < (ulong)count; i++) _sessions.Record(session, new(first + i, 1, 1, false, 1, new([i]), null));
    }
}
