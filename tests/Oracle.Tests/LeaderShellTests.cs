using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>What a leader does around the state machine, turn by turn.</summary>
public sealed class LeaderShellTests
{
    private readonly TellingLinks _links = new();

    /// <summary>The steps of the configuration follow each other without a pause: each comes with the end of the turn after what allows it, and not with the next tick.</summary>
    [Fact]
    public void What_is_committed_is_followed_by_the_step_that_it_allows()
    {
        var leader = new LoneLeader(1, _links);
        leader.Replica.Shell.OnRequest(0, LogBus.ReplicaOf(2), new(default, 0, 0, new Register(2, LogBus.ReplicaOf(2).Address, "", "", 0, 0, Durations.Second)));
        leader.Turn();
        Assert.NotNull(leader.Replica.State.FindNode(2));
        Assert.Empty(leader.Replica.Log.Entries.Configuration.Learners);
        leader.Replica.Shell.EndOfTurn();
        Assert.Equal(2UL, Assert.Single(leader.Replica.Log.Entries.Configuration.Learners).Node);
    }

    /// <summary>A process that is excluded and asks for something is told so; of one that this replica does not know yet, since it is registered later in the log, nothing is said.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Who_asks_is_told_that_it_was_excluded_but_not_who_may_be_registered_yet(bool excluded)
    {
        var leader = new LoneLeader(4, _links);
        var replica = leader.Replica;
        var asks = leader.IdOf(4);
        if (excluded)
        {
            replica.Shell.OnRequest(0, LogBus.ReplicaOf(4), new(asks, 1, 1, new Depart(true)));
            leader.Turn();
            leader.Turn();
            Assert.False(replica.State.IsAlive(asks));
        }
        else
        {
            asks = new(9, replica.State.Index + 1);
        }
        _links.Told.Clear();
        replica.Shell.OnRequest((int)asks.Node, LogBus.ReplicaOf(asks.Node), new(asks, 2, 2, new Join("g", new(), 0, "")));
        Assert.Equal(excluded ? [(int)asks.Node] : [], _links.Told);
        replica.Shell.OnLeaseAsk((int)asks.Node, LogBus.ReplicaOf(asks.Node), new(asks, 1, 0));
        Assert.Equal(excluded ? [(int)asks.Node, (int)asks.Node] : [], _links.Told);
    }

    /// <summary>An exclusion that the log does not take is decided again: until then the process is a member like others, from the same turn on.</summary>
    [Fact]
    public void Whose_exclusion_the_log_refused_is_a_member_again_with_that_turn()
    {
        var leader = new LoneLeader(4, _links);
        var replica = leader.Replica;
        var accused = leader.IdOf(4);
        while (replica.Log.Entries.LastIndex - replica.Log.Commit < Log.Leader.UncommittedEntries) Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([])));
        for (ulong node = 1; node <= 3; node++) replica.Shell.OnSuspect(0, LogBus.ReplicaOf(node), new(accused, false, Accusation.Refused, 0));
        replica.Shell.EndOfTurn();
        Assert.False(replica.Shell.IsExcluding(accused));
        Assert.True(replica.State.IsAlive(accused));
    }
}
