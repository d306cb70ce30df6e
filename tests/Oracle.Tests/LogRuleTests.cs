using GroupCore.Runtime;
using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>
/// Directed schedules of the log. With all rules no two replicas apply different entries at one index; without one of them they do (oracle.md#rules; Ongaro and Ousterhout
/// 2014, figure 8; Ongaro's erratum on single-server changes).
/// </summary>
public sealed class LogRuleTests
{
    [Theory]
    [InlineData(null)]
    [InlineData(nameof(OracleRules.RaftUpToDateVote))]
    public void A_candidate_that_lacks_a_committed_entry_gets_no_vote(string? name)
    {
        var bus = Founded(name, 1, 2, 3);
        bus.Connect(1, 2);
        Append(bus, 1, 7);
        ulong entry = bus[1].Entries.LastIndex;
        bus.SettleUntil(() => bus[1].Commit == entry);
        Assert.Equal(entry, bus[1].Commit);
        // 1 committed the entry, and dies before it tells 2.
        bus.Connect(2, 3);
        bus.Campaign(3);
        if (bus[3].Leading is not null) Append(bus, 3, 8);
        bus.Settle();
        bus.Connect(1, 2, 3);
        Check(bus, name);
    }

    /// <summary>1 votes for 2 in term 2. If it voted for 3 as well, both would lead that term.</summary>
    [Fact]
    public void A_voter_has_one_vote_in_a_term()
    {
        var bus = Founded(null, 1, 2, 3);
        ulong term = bus[1].Term;
        bus.Connect(1, 2);
        bus[2].OnFrame(LogBus.ReplicaOf(1), new TimeoutNow(term));
        bus.SettleUntil(() => bus[2].Leading is not null);
        bus.Connect(1, 3);
        bus[3].OnFrame(LogBus.ReplicaOf(1), new TimeoutNow(term));
        bus.Settle();
        Assert.Equal((term + 1, term + 1), (bus[2].Term, bus[3].Term));
        Assert.Null(bus[3].Leading);
        Check(bus, null);
    }

    /// <summary>The candidate voted for itself. It must not vote again in that term after it hears of the leader and becomes a follower.</summary>
    [Fact]
    public void A_candidate_that_follows_the_leader_of_its_term_has_voted_all_the_same()
    {
        var bus = Founded(null, 1, 2, 3);
        var (log, last, lastTerm) = (bus[3], bus[3].Entries.LastIndex, bus[3].Entries.LastTerm);
        log.OnFrame(LogBus.ReplicaOf(1), new TimeoutNow(log.Term));
        log.OnFrame(LogBus.ReplicaOf(2), new AppendRequest(log.Term, last, lastTerm, [], 0, 0));
        Assert.IsType<Follower>(log.Role);
        log.OnFrame(LogBus.ReplicaOf(1), new VoteRequest(false, log.Term, last, lastTerm, true));
        Assert.Equal(3UL, log.VotedFor);
    }

    /// <summary>
    /// 1 demotes voter 4 of four to a learner, tells only 4, and dies. 2 and 3 are no majority of four, and 4 votes for no shorter log. So 4 leads until the demotion is
    /// committed.
    /// </summary>
    [Fact]
    public void A_replica_whose_vote_is_taken_is_elected_where_it_alone_knows()
    {
        var bus = Founded(null, 1, 2, 3, 4);
        bus.Connect(1, 4);
        bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Demote(LogBus.ReplicaOf(4)));
        ulong taken = bus[1].Entries.LastIndex;
        bus.SettleUntil(() => bus[4].Entries.LastIndex == taken);
        Assert.False(bus[4].IsVoter);
        bus.Connect(2, 3, 4);
        bus.Campaign(2);
        bus.Campaign(3);
        Assert.Null(bus[2].Leading ?? bus[3].Leading);
        bus.Campaign(4);
        Assert.NotNull(bus[4].Leading);
        Assert.True(bus[4].Commit >= taken);
        // Now that the others vote without it, it never asks again.
        Assert.False(bus[4].MayCampaign);
        Check(bus, null);
    }

    /// <summary>While the voter hears nobody it only asks whether it would be elected, and begins no term. A later term would depose the leader that the others hear.</summary>
    [Fact]
    public void A_voter_that_was_cut_off_comes_back_in_the_same_term_and_deposes_nobody()
    {
        var bus = Founded(null, 1, 2, 3);
        ulong term = bus[1].Term;
        bus.Connect(1, 2);
        for (int i = 0; i < 5; i++)
        {
            bus.Pass(700 * Durations.Millisecond);
            bus[1].OnTimer(0);
            bus[3].OnTimer(0);
            bus.Settle();
        }
        Assert.IsNotType<Follower>(bus[3].Role);
        bus.Connect(1, 2, 3);
        bus[1].OnTimer(0);
        bus.Settle();
        Assert.NotNull(bus[1].Leading);
        Assert.Equal((term, term), (bus[1].Term, bus[3].Term));
    }

    /// <summary>Only the link between 1 and 3 is broken. If 2 encouraged 3, 3 would begin a term in which nobody votes for it, and 1 would step down.</summary>
    [Fact]
    public void A_voter_that_hears_a_leader_encourages_nobody_else()
    {
        var bus = Founded(null, 1, 2, 3);
        ulong term = bus[1].Term;
        bus.Connect(1, 2);
        bus.Pass(700 * Durations.Millisecond);
        bus[1].OnTimer(0);
        bus.Settle();
        bus.Connect(2, 3);
        bus[3].OnTimer(0);
        bus.Settle();
        Assert.Equal(term, bus[3].Term);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_voter_that_hears_a_leader_votes_for_another_only_where_that_leader_asked_for_it(bool asked)
    {
        var bus = Founded(null, 1, 2, 3);
        ulong term = bus[1].Term;
        bus[2].OnFrame(LogBus.ReplicaOf(3), new VoteRequest(false, term + 1, bus[3].Entries.LastIndex, bus[3].Entries.LastTerm, asked));
        Assert.Equal(asked ? (term + 1, 3UL) : (term, 0UL), (bus[2].Term, bus[2].VotedFor));
    }

    [Theory]
    [InlineData(null)]
    [InlineData(nameof(OracleRules.RaftOneChange))]
    public void A_second_change_waits_until_the_first_is_committed(string? name)
    {
        var bus = Founded(name, 1, 2, 3);
        bus.Add(4);
        bus.Add(5);
        bus.Connect(1, 4, 5);
        bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(4)));
        bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(5)));
        bus.Settle();
        bus.Connect(2, 3);
        bus.Campaign(2);
        if (bus[2].Leading is not null) Append(bus, 2, 8);
        bus.Settle();
        Check(bus, name);
    }

    [Theory]
    [InlineData(null)]
    [InlineData(nameof(OracleRules.RaftOwnTermFirst))]
    public void A_change_waits_for_an_entry_of_the_own_term(string? name)
    {
        var bus = Founded(name, 1, 2, 3, 4);
        bus.Add(5);
        bus.Connect(1, 5);
        bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(5)));
        bus.Settle();
        bus.Connect(2, 3, 4);
        // 2 wins, and reaches only 3 before its first entry is committed.
        bus.Campaign(2, reaching: [2, 3]);
        bus[2].Leading?.TryChange(bus[2].Entries.Configuration.Remove(1));
        bus.Settle();
        bus.Connect(1, 4, 5);
        // 1 steps down for lack of a majority, learns of the later term, and is elected in one after that.
        for (int attempt = 0; attempt < 4 && !(bus[1].Leading is not null && bus[1].Term > 1); attempt++) bus.Campaign(1);
        if (bus[1].Leading is not null) Append(bus, 1, 9);
        bus.Settle();
        Check(bus, name);
    }

    /// <summary>Figure 8 of Ongaro and Ousterhout 2014: an entry of an earlier term is on a majority and is overwritten all the same.</summary>
    [Theory]
    [InlineData(null)]
    [InlineData(nameof(OracleRules.RaftOldTermByCounting))]
    public void An_entry_of_an_earlier_term_is_not_committed_by_counting(string? name)
    {
        var bus = Founded(name, 1, 2, 3, 4, 5);
        // (a) 1 leads and brings an entry to 2 only. It fills a batch, so that later the entry behind it travels alone.
        bus.Connect(1, 2);
        Assert.True(bus[1].Leading!.TryAppend(new byte[300_000]));
        ulong entry = bus[1].Entries.LastIndex;
        bus.SettleUntil(() => bus[2].Entries.LastIndex == entry);
        // (b) 5 leads by the votes of 3 and 4, and keeps its own entry of that index to itself.
        bus.Connect(3, 4, 5);
        bus.Campaign(5, reaching: [5]);
        Assert.Equal(entry, bus[5].Entries.LastIndex);
        // (c) 1 leads again and brings the old entry to 3, a majority; its own entry stays behind.
        bus.Connect(1, 2, 3);
        Elect(bus, 1, until: () => bus[1].Leading?.LagOf(3) == 1);
        Assert.Equal(entry, bus[3].Entries.LastIndex);
        Assert.Equal(name is null, bus[1].Commit < entry);
        // (d) 5 leads by the votes of 3 and 4 again: its last entry is of a later term than theirs.
        bus.Connect(3, 4, 5);
        Elect(bus, 5, until: () => bus[5].Leading is not null && bus[3].Commit > entry);
        Assert.True(bus[3].Commit > entry);
        Check(bus, name);
    }

    [Fact]
    public void A_learner_that_never_answered_has_not_caught_up()
    {
        var bus = Founded(null, 1);
        bus.Add(2);
        bus.Connect(1);
        Assert.True(bus[1].Leading!.TryChange(bus[1].Entries.Configuration.WithLearner(LogBus.ReplicaOf(2))));
        bus.Settle();
        Assert.Equal(ulong.MaxValue, bus[1].Leading!.LagOf(2));
        bus.Connect(1, 2);
        bus[1].OnTimer(0);
        bus.Settle();
        Assert.Equal(0ul, bus[1].Leading!.LagOf(2));
    }

    /// <summary>
    /// Five voters. 1 commits entries with 2 and 3. A saved state of an earlier index, sent before 2 had the entries, reaches 2 late. If it cleared the entries that 2 has
    /// acknowledged, 2, 4 and 5 would elect a leader without them (Ongaro and Ousterhout 2014, section 7).
    /// </summary>
    [Theory]
    [InlineData(null)]
    [InlineData(nameof(OracleRules.RaftKeepMatching))]
    public void F9_a_saved_state_leaves_the_matching_entries_behind_it(string? name)
    {
        var bus = Founded(name, 1, 2, 3, 4, 5);
        bus.Connect(1, 2, 3);
        Append(bus, 1, 7);
        ulong saved = bus[1].Entries.LastIndex;
        bus.SettleUntil(() => bus[2].Entries.LastIndex == saved);
        Append(bus, 1, 8);
        ulong last = bus[1].Entries.LastIndex;
        bus.SettleUntil(() => bus[1].Commit == last);
        Assert.True(bus[2].Commit < saved && bus[2].Entries.LastIndex == last && bus[1].Commit == last);
        bus[2].OnFrame(LogBus.ReplicaOf(1), new SnapshotChunk(bus[1].Term, saved, bus[1].Entries.TermAt(saved), bus[1].Entries.Configuration, 0, 1, new byte[1]));
        Assert.Equal(name is null ? last : saved, bus[2].Entries.LastIndex);
        bus.Connect(2, 4, 5);
        bus.Campaign(4);
        for (ulong node = 2; node <= 4; node += 2)
            if (bus[node].Leading is not null) Append(bus, node, 9);
        bus.Settle();
        bus.Campaign(2);
        if (bus[2].Leading is not null) Append(bus, 2, 9);
        bus.Settle();
        Check(bus, name);
    }

    /// <summary>
    /// A lying replica merely claims to lead, and fills another's log with entries that it never commits. Then either the other replica is elected with those entries, or
    /// another leader reaches it.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void What_a_false_leader_never_commits_has_a_bound_and_the_log_goes_on(ulong next)
    {
        var bus = Founded(null, 1, 2, 3);
        var (log, liar) = (bus[2], LogBus.ReplicaOf(3));
        ulong term = log.Term + 1, commit = log.Commit;
        var content = new byte[512 << 10];
        for (int i = 0; i < 400; i++) Say([new(term, EntryKind.Operations, content)]);
        Assert.InRange(log.Entries.BytesBehind(commit), 1, 64 << 20);
        for (int i = 0; i < 100; i++) Say([.. Enumerable.Repeat(new LogEntry(term, EntryKind.Noop, []), AppendRequest.MaxEntries)]);
        Assert.InRange(log.Entries.LastIndex - commit, 1UL, 32_768UL);
        Assert.InRange(log.Entries.BytesBehind(commit), 1, 64 << 20);

        bus[1].OnFrame(liar, new AppendRequest(term, bus[1].Entries.LastIndex, bus[1].Entries.LastTerm, [], 0, 0));
        if (next == 1) bus.Connect(1, 3);
        Elect(bus, next, until: () => bus[next].Leading is not null && bus[next].Term > term);
        bus.Connect(1, 2, 3);
        bus.Settle(rounds: 1_000);
        bus[next].OnTimer(0);
        bus.Settle(rounds: 1_000);
        Append(bus, next, 9);
        bus.Settle();
        bus[next].OnTimer(0);
        bus.Settle();
        foreach (ulong node in (ulong[])[1, 2, 3]) Assert.Equal((bus[next].Entries.LastIndex, bus[next].Entries.LastIndex), (bus[node].Commit, bus[node].Applied));
        Assert.Empty(bus.Checker.Violations);

        void Say(LogEntry[] entries) => log.OnFrame(liar, new AppendRequest(term, log.Entries.LastIndex, log.Entries.LastTerm, entries, 0, 0));
    }

    /// <summary>So what the others hold for this leader stays far below what they would refuse.</summary>
    [Fact]
    public void A_leader_takes_no_more_than_16_MiB_that_are_not_committed()
    {
        var bus = Founded(null, 1, 2, 3);
        bus.Connect(1);
        var content = new byte[1 << 20];
        int taken = 0;
        while (taken < 100 && bus[1].Leading!.TryAppend(content)) taken++;
        Assert.Equal(16, taken);
        bus.Connect(1, 2, 3);
        bus[1].OnTimer(0);
        bus.Settle(rounds: 1_000);
        Assert.Equal(bus[1].Entries.LastIndex, bus[1].Commit);
        Append(bus, 1, 9);
    }

    /// <summary>
    /// At the highest index, the next one could be told to nobody. A replica that has nothing yet cannot know better, but the leader does not count what it claims to have.
    /// </summary>
    [Fact]
    public void No_saved_state_brings_the_log_to_an_index_that_is_beyond_reach()
    {
        var bus = Founded(null, 1, 2, 3);
        var (term, configuration, liar) = (bus[1].Term, bus[1].Entries.Configuration, LogBus.ReplicaOf(3));
        bus[2].OnFrame(liar, new SnapshotChunk(term + 1, 1UL << 62, term, configuration, 0, 1, new byte[1]));
        Assert.Equal(bus[1].Entries.LastIndex, bus[2].Entries.LastIndex);
        Assert.Equal(1, bus.Parts[2].Counters.Refused(RefusalReason.Unexpected));

        var fresh = Founded(null, 1, 2, 3);
        fresh.Add(4);
        fresh[4].OnFrame(liar, new SnapshotChunk(term, 1UL << 62, term, configuration, 0, 1, new byte[1]));
        Assert.True(fresh[1].Leading!.TryChange(configuration.WithLearner(LogBus.ReplicaOf(4))));
        fresh.Settle();
        Assert.Equal(ulong.MaxValue, fresh[1].Leading!.LagOf(4));
    }

    private static void Check(LogBus bus, string? name) => Assert.Equal(name is not null, bus.Checker.Violations.Count > 0);

    /// <summary>Campaigns until elected: it may have to step down first, or learn of a later term.</summary>
    private static void Elect(LogBus bus, ulong node, Func<bool> until)
    {
        for (int attempt = 0; attempt < 6 && !until(); attempt++) bus.Campaign(node, until: until);
        Assert.True(until());
    }

    private static void Append(LogBus bus, ulong node, byte content) => Assert.True(bus[node].Leading!.TryAppend([content]));

    /// <summary>A system founded by the first, with the others as voters, all up to date.</summary>
    private static LogBus Founded(string? without, params ulong[] voters)
    {
        var bus = new LogBus(without);
        foreach (ulong voter in voters) bus.Add(voter);
        bus[voters[0]].Found(LogBus.ReplicaOf(voters[0]));
        bus.Settle();
        foreach (ulong voter in voters.Skip(1))
        {
            Assert.True(bus[voters[0]].Leading!.TryChange(bus[voters[0]].Entries.Configuration.Promote(LogBus.ReplicaOf(voter))));
            bus.Settle();
        }
        foreach (ulong voter in voters) Assert.Equal(voters.Length, bus[voter].Entries.Configuration.Voters.Count);
        return bus;
    }
}
