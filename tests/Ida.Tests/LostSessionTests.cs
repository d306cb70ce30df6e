using Ida.Ordering;

namespace Ida.Tests;

/// <summary>What is remembered of members that are gone is bounded in bytes, for all of them together, and what was dropped is told as forgotten.</summary>
public sealed class LostSessionTests
{
    // An outcome takes some 96 bytes. All members that are gone have four times Most together.
    private const int Most = 4_096, Each = 40;

    [Fact]
    public async Task R_outcomes_of_members_that_are_gone_are_bounded_by_bytes_and_the_oldest_are_forgotten()
    {
        var world = Founded();
        var sessions = new List<UInt128>();
        for (int i = 0; i < 8; i++)
        {
            var (member, session) = Join(world);
            sessions.Add(session);
            for (ulong n = 1; n <= Each; n++) Assert.Equal(2, (await Put(world, session, n)).Versions.Count);
            world.Settle();
            world.Crash(member, loseAll: true);
            world.ChangeView();
            foreach (var replica in world.Initialised(0)) Assert.InRange(Lost(replica), Each * 96, 4 * Most);
        }
        world.Settle();
        await Assert.ThrowsAsync<OutcomeForgottenException>(() => Put(world, sessions[0], 1));
        Assert.Equal(2, (await Put(world, sessions[^1], 1)).Versions.Count);
        Assert.Null(DhtWorld.Difference(world.Initialised(0)[0], world.Initialised(0)[1]));
        await AssertAppliedOnceAsync(world, sessions.Count * Each);
    }

    /// <summary>Retries may name puts that were never made.</summary>
    [Fact]
    public async Task R_retries_for_a_member_that_is_gone_leave_a_bounded_number_of_outcomes_within_a_view()
    {
        var world = Founded();
        var (member, session) = Join(world);
        world.Crash(member, loseAll: true);
        world.ChangeView();
        world.Settle();
        int applied = 0;
        for (ulong n = 1; n <= 500; n++)
        {
            var put = Put(world, session, n);
            if (put.IsCompletedSuccessfully) applied++;
            else Assert.IsType<OutcomeForgottenException>(put.Exception!.InnerException);
        }
        Assert.InRange(applied, 4 * Most / 96, (5 * Most / 96) + 2);
        foreach (var replica in world.Initialised(0)) Assert.InRange(Lost(replica), 4 * Most, (5 * Most) + 96);
        // What is known is told, however much there is.
        Assert.Equal(2, (await Put(world, session, 1)).Versions.Count);
        await AssertAppliedOnceAsync(world, applied);
    }

    [Fact]
    public void The_last_one_stays_whatever_it_has_and_others_go_as_a_whole_by_the_view_in_which_they_were_lost()
    {
        var sessions = new SessionTable();
        for (uint id = 1; id <= 4; id++) Fill(sessions, id, lostIn: id == 1 ? 9UL : id, outcomes: 10);
        sessions.Update([], 20, initialised: true, 25 * 96);
        Assert.Equal([1, 4], sessions.All.Select(static session => (int)session.Id).Order());
        Assert.Equal(20 * 96, sessions.LostBytes);
        sessions.Update([], 21, initialised: true, 5 * 96);
        Assert.Equal((1, 10), ((int)Assert.Single(sessions.All).Id, sessions.All[0].OutcomeCount));
    }

    /// <summary>The source may have forgotten the session: with the part of it that came first, a put could be applied again.</summary>
    [Fact]
    public void A_member_without_its_state_keeps_no_part_of_what_it_was_given_of_members_that_are_gone()
    {
        var sessions = new SessionTable();
        Fill(sessions, 1, lostIn: 3, outcomes: 10);
        Fill(sessions, 2, lostIn: 0, outcomes: 10);
        Fill(sessions, 3, lostIn: 0, outcomes: 10);
        sessions.Update([2], 20, initialised: false, long.MaxValue);
        Assert.Equal((2, 0L), ((int)Assert.Single(sessions.All).Id, sessions.LostBytes));
    }

    private static void Fill(SessionTable sessions, uint id, ulong lostIn, int outcomes)
    {
        var session = sessions.GetOrAdd(id);
        session.LostIn = lostIn;
        for (ulong n = 1; n <= (ulong)outcomes; n++) sessions.Record(session, new(n, 1, 1, false, 1, new([n]), null));
    }

    private static DhtWorld Founded()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxOutcomeBytes = Most } });
        // The test names the puts of a session itself, also while its member is there.
        world.GivenFrom = 0;
        return world;
    }

    private static (HarnessMember Member, UInt128 Session) Join(DhtWorld world)
    {
        var member = world.Add();
        world.ChangeView();
        member.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Settle();
        return (member, member.Host.Current!.State.Session);
    }

    private static Task<PutResult> Put(DhtWorld world, UInt128 session, ulong sequence)
    {
        var put = world.Members[0].Dht.Map<string, long>("longs").MergeAsync([new KeyValuePair<string, long>("a0", 1), new("b0", 1)], new() { Operation = new(session, sequence) }).AsTask();
        world.RunUntil(() => put.IsCompleted, "A put");
        return put;
    }

    private static async Task AssertAppliedOnceAsync(DhtWorld world, long puts)
    {
        var read = world.Members[1].Dht.Map<string, long>("longs").GetAsync("a0").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(puts, (await read).Value);
    }

    private static long Lost(HarnessMember member) => member.Host.Current!.Participant.Sessions.All.Where(static session => session.LostIn != 0).Sum(static session => session.OutcomeBytes);
}
