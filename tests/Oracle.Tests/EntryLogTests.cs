using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>The entries of a replica in memory, with the configurations among them.</summary>
public sealed class EntryLogTests
{
    private readonly EntryLog _log = new();

    [Fact]
    public void A_log_begins_behind_entry_0_of_term_0_with_nobody_to_decide()
    {
        Assert.Equal((0UL, 0UL, 0UL, 0L), (_log.Base, _log.LastIndex, _log.LastTerm, _log.Bytes));
        Assert.True(_log.Knows(0));
        Assert.False(_log.Knows(1));
        Assert.Same(Configuration.Empty, _log.Configuration);
    }

    [Fact]
    public void Entries_are_numbered_as_they_come_and_their_bytes_counted()
    {
        Append(1, 10);
        Append(1, 20);
        Append(3, 30);
        Assert.Equal((3UL, 3UL, 60L), (_log.LastIndex, _log.LastTerm, _log.Bytes));
        Assert.Equal((1UL, 3UL), (_log.TermAt(2), _log.TermAt(3)));
        Assert.Equal((50L, 0L), (_log.BytesBehind(1), _log.BytesBehind(3)));
        Assert.Equal(20, _log[2].Content.Length);
    }

    [Fact]
    public void What_the_saved_state_holds_is_forgotten_but_for_the_term_of_its_last_entry()
    {
        foreach (int bytes in (int[])[10, 20, 30, 40]) Append((ulong)bytes / 10, bytes);
        _log.Cut(2);
        _log.Cut(1);
        Assert.Equal((2UL, 2UL, 4UL, 70L), (_log.Base, _log.BaseTerm, _log.LastIndex, _log.Bytes));
        Assert.Equal([false, true, true, true, false], Enumerable.Range(1, 5).Select(index => _log.Knows((ulong)index)));
        Assert.Equal((2UL, 3UL, 40L), (_log.TermAt(2), _log.TermAt(3), _log.BytesBehind(3)));
        Append(5, 50);
        Assert.Equal((120L, 5UL), (_log.Bytes, _log.LastTerm));
        _log.Cut(5);
        Assert.Equal((5UL, 5UL, 0L), (_log.LastIndex, _log.LastTerm, _log.Bytes));
    }

    [Fact]
    public void Entries_that_another_leader_replaces_go_with_all_behind_them()
    {
        foreach (int bytes in (int[])[10, 20, 30, 40]) Append(1, bytes);
        _log.Cut(1);
        _log.Truncate(3);
        Assert.Equal((2UL, 20L), (_log.LastIndex, _log.Bytes));
        Append(2, 5);
        Assert.Equal((3UL, 2UL, 25L), (_log.LastIndex, _log.LastTerm, _log.Bytes));
    }

    /// <summary>Raft uses a configuration from the moment it is appended.</summary>
    [Fact]
    public void The_latest_configuration_counts_whether_it_is_committed_or_not_and_no_longer_than_its_entry()
    {
        Append(1, 10);
        AppendVoters(1);
        Append(1, 10);
        AppendVoters(1, 2);
        Assert.Equal((4UL, 2), (_log.ConfigurationIndex, _log.Configuration.Voters.Count));
        Assert.Equal([0, 0, 1, 1, 2, 2], Enumerable.Range(0, 6).Select(index => _log.ConfigurationAt((ulong)index).Voters.Count));
        _log.Truncate(4);
        Assert.Equal((2UL, 1), (_log.ConfigurationIndex, _log.Configuration.Voters.Count));
        _log.Truncate(1);
        Assert.Empty(_log.Configuration.Voters);
    }

    [Fact]
    public void The_configuration_in_force_where_the_log_is_cut_stays()
    {
        AppendVoters(1);
        Append(1, 10);
        AppendVoters(1, 2);
        _log.Cut(2);
        Assert.Equal((1, 2), (_log.ConfigurationAt(2).Voters.Count, _log.Configuration.Voters.Count));
        _log.Truncate(3);
        Assert.Single(_log.Configuration.Voters);
    }

    [Fact]
    public void A_log_that_begins_anew_has_the_place_and_the_configuration_of_the_saved_state()
    {
        Append(1, 10);
        AppendVoters(1);
        _log.Reset(100, 9, new([LogBus.ReplicaOf(1), LogBus.ReplicaOf(2)], []));
        Assert.Equal((100UL, 100UL, 9UL, 0L), (_log.Base, _log.LastIndex, _log.LastTerm, _log.Bytes));
        Assert.Equal((100UL, 2), (_log.ConfigurationIndex, _log.Configuration.Voters.Count));
        Append(10, 7);
        Assert.Equal((101UL, 7L), (_log.LastIndex, _log.Bytes));
    }

    [Fact]
    public void Configurations_that_follow_each_other_differ_by_one_replica()
    {
        var one = new Configuration([LogBus.ReplicaOf(1)], []);
        var learning = one.WithLearner(LogBus.ReplicaOf(2));
        Assert.Equal((true, false, true, true), (learning.IsLearner(2), learning.IsVoter(2), learning.Contains(2), learning.IsVoter(1)));
        var promoted = learning.Promote(LogBus.ReplicaOf(2));
        Assert.Equal((2, 0), (promoted.Voters.Count, promoted.Learners.Count));
        var demoted = promoted.Demote(LogBus.ReplicaOf(1));
        Assert.Equal((true, true, false), (demoted.IsVoter(2), demoted.IsLearner(1), demoted.IsVoter(1)));
        var removed = demoted.Remove(1);
        Assert.False(removed.Contains(1));
        Assert.Equal((1, 0), (removed.Voters.Count, removed.Learners.Count));
        Assert.Single(one.Voters);
    }

    private void Append(ulong term, int bytes) => _log.Append(new(term, EntryKind.Operations, new byte[bytes]));

    private void AppendVoters(params ulong[] nodes) =>
        _log.Append(new(1, EntryKind.Configuration, ConfigurationCodec.Write(new([.. nodes.Select(LogBus.ReplicaOf)], []))));
}
