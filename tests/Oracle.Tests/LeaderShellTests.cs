using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>What a leader does around the state machine, turn by turn.</summary>
public sealed class LeaderShellTests
{
    private readonly TellingLinks _links = new();
    private readonly LogBus _bus = new();

    /// <summary>
    /// The steps of the configuration follow each other without a pause: the next step comes at the end of the turn after the one that allows it, not with the next tick.
    /// </summary>
    [Fact]
    public void What_is_committed_is_followed_by_the_step_that_it_allows()
    {
        var replica = Leading(1);
        Register(replica, 2);
        Turn(replica);
        Assert.NotNull(replica.State.FindNode(2));
        Assert.Empty(replica.Log.Entries.Configuration.Learners);
        replica.Services.EndOfTurn();
        Assert.Equal(2UL, Assert.Single(replica.Log.Entries.Configuration.Learners).Node);
    }

    /// <summary>
    /// An excluded process that asks for something is told that it is excluded. A process that this replica does not know may be registered later in the log, so it is told
    /// nothing.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_excluded_process_that_asks_is_told_so_and_one_that_may_be_registered_later_is_told_nothing(bool excluded)
    {
        var replica = Leading(4);
        var asks = replica.State.FindNode(4)!.Id;
        if (excluded)
        {
            replica.Services.OnRequest(0, LogBus.ReplicaOf(4), new(asks, 1, 1, new Depart(true)));
            Turn(replica);
            Turn(replica);
            Assert.False(replica.State.IsAlive(asks));
        }
        else
        {
            asks = new(9, replica.State.Index + 1);
        }
        _links.Told.Clear();
        replica.Services.OnRequest((int)asks.Node, LogBus.ReplicaOf(asks.Node), new(asks, 2, 2, new Join("g", new(), 0, "")));
        Assert.Equal(excluded ? [(int)asks.Node] : [], _links.Told);
        replica.Services.OnLeaseAsk((int)asks.Node, LogBus.ReplicaOf(asks.Node), new(asks, 1, 0));
        Assert.Equal(excluded ? [(int)asks.Node, (int)asks.Node] : [], _links.Told);
    }

    /// <summary>An exclusion that the log refuses is decided again later. Until then, from the same turn on, the process is a member like any other.</summary>
    [Fact]
    public void A_process_whose_exclusion_the_log_refused_is_a_member_again_in_the_same_turn()
    {
        var replica = Leading(4);
        var suspected = replica.State.FindNode(4)!.Id;
        while (replica.Log.Entries.LastIndex - replica.Log.Commit < Raft.Leader.UncommittedEntries) Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([])));
        for (ulong node = 1; node <= 3; node++) replica.Services.OnSuspect(0, LogBus.ReplicaOf(node), new(suspected, false, Suspicion.Refused, 0));
        replica.Services.EndOfTurn();
        Assert.False(replica.Services.IsExcluding(suspected));
        Assert.True(replica.State.IsAlive(suspected));
    }

    /// <summary>A request is repeated when its answer is late, perhaps over another link, while the first copy may still wait at the leader.</summary>
    [Fact]
    public void A_request_that_comes_twice_is_in_the_entry_once_and_answered_where_it_came_from_last()
    {
        var replica = Leading(4);
        var request = new Request(replica.State.FindNode(4)!.Id, 1, 1, new Join("g", new(), 0, ""));
        replica.Services.OnRequest(20, LogBus.ReplicaOf(4), request);
        replica.Services.OnRequest(21, LogBus.ReplicaOf(4), request);
        _bus.Pass(20 * Durations.Millisecond);
        Turn(replica);
        Assert.Single(OperationCodec.ReadEntry(replica.Log.Entries[replica.Log.Entries.LastIndex].Content));
        Assert.Contains(21, _links.Told);
        Assert.DoesNotContain(20, _links.Told);
    }

    /// <summary>A replica that leads alone, with the given number of registered processes, of which it is the first. Its links record what it sends.</summary>
    private OracleReplica Leading(int processes)
    {
        var part = new LogBus.Part(_bus, 1, _links);
        var replica = new OracleReplica(part, new(), new(part), () => { }, () => { });
        replica.Log.Found(LogBus.ReplicaOf(1));
        for (ulong node = 1; node <= (ulong)processes; node++) Register(replica, node);
        // Until the configuration needs no further step.
        for (int turn = 0; turn < 10; turn++) Turn(replica);
        return replica;
    }

    private static void Register(OracleReplica replica, ulong node) =>
        replica.Services.OnRequest(0, LogBus.ReplicaOf(node), new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));

    private static void Turn(OracleReplica replica)
    {
        replica.Services.EndOfTurn();
        replica.Log.EndOfTurn();
    }
}
