using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>When several voters are to be removed: which one goes first (oracle.md#the-size-of-the-oracle). Process 1 leads.</summary>
public sealed class ConfigurationKeeperTests
{
    private readonly LogBus _bus = new();
    private readonly OracleState _state;
    private readonly ConfigurationKeeper _keeper;
    private ulong _index;

    public ConfigurationKeeperTests()
    {
        for (ulong node = 1; node <= 5; node++) _bus.Add(node);
        _bus[1].Found(LogBus.ReplicaOf(1));
        _bus.Settle();
        _state = new(new OracleReplica(_bus.Parts[1], new(), new(_bus.Parts[1]), () => { }, () => { }), OracleRules.All);
        for (ulong node = 1; node <= 5; node++) Apply(new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        _keeper = new(_bus.Parts[1], new());
    }

    /// <summary>The leader goes last, by handing over. As long as it leads it can remove the other voter; if it went first, its successor would have to.</summary>
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void A_leader_that_leaves_takes_out_another_that_leaves_before_it_hands_over(ulong other)
    {
        Vote(2, 3);
        Fail(5);
        Leave(1);
        Leave(other);
        Step();
        Assert.Equal(((ulong[])[1, 2, 3]).Where(node => node != other), Voters);
        Assert.False(_bus[1].Leading!.Transferring);
        _bus.Settle();
        Step();
        Assert.True(_bus[1].Leading is not { Transferring: false });
    }

    /// <summary>Nobody can dial 2, the only voter that stays, so the leader cannot hand over to it. If two processes stay, one voter is enough, and 2 is one: another has to vote all the same.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_leader_that_leaves_and_can_hand_over_to_no_voter_brings_in_another(bool two)
    {
        Vote(2, 3);
        _bus.Hidden.Add(2);
        if (two) Fail(5);
        Leave(1);
        Leave(3);
        for (int step = 0; step < 12 && _bus[1].Leading is not null; step++)
        {
            Step();
            _bus.Settle();
        }
        Assert.Null(_bus[1].Leading);
        Assert.NotNull(_bus[4].Leading ?? _bus[5].Leading);
        Assert.True(_bus.Parts.Values.First(static part => part.Log.Leading is not null).Log.Entries.Configuration.Voters.Count <= 4);
    }

    /// <summary>
    /// Of five voters, 4 and 5 have failed; 2 is leaving and still follows. Without 2, the leader and 3 would be no majority of the four that remain, and nothing could be
    /// decided any more. So a failed voter is removed first, although 2 comes before it in the order.
    /// </summary>
    [Fact]
    public void A_failed_voter_is_removed_before_a_leaving_voter_that_the_majority_needs()
    {
        Vote(2, 3, 4, 5);
        Leave(2);
        Fail(4);
        Fail(5);
        _bus.Connect(1, 2, 3);
        _bus.Pass(2 * Durations.Second);
        foreach (ulong node in (ulong[])[2, 3]) _bus[1].OnFrame(LogBus.ReplicaOf(node), new Raft.AppendReply(_bus[1].Term, true, _bus[1].Entries.LastIndex, 0));
        Step();
        Assert.Equal([1, 2, 3, 5], Voters);
        _bus.Settle();
        Step();
        // The leader and 3 are a majority of the three that remain then.
        Assert.Equal([1, 3, 5], Voters);
    }

    /// <summary>The leader was elected by the previous configuration. It cannot promote itself, since nobody tells it how far its own log is.</summary>
    [Fact]
    public void A_leader_that_does_not_vote_hands_over()
    {
        Vote(2, 3);
        _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.Demote(LogBus.ReplicaOf(1)));
        _bus.Settle();
        Step();
        _bus.Settle();
        Assert.Null(_bus[1].Leading);
        Assert.NotNull((_bus[2].Leading ?? _bus[3].Leading));
    }

    /// <summary>For a second, a voter that was just cut off still counts as a follower. If the leader handed over to it, nothing would be decided meanwhile.</summary>
    [Fact]
    public void The_lead_goes_to_the_voter_that_was_heard_last()
    {
        Vote(2, 3, 4);
        _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.Demote(LogBus.ReplicaOf(1)));
        _bus.Settle();
        _bus.Connect(1, 3, 4);
        _bus.Pass(Durations.Second / 2);
        foreach (ulong node in (ulong[])[3, 4]) _bus[1].OnFrame(LogBus.ReplicaOf(node), new Raft.AppendReply(_bus[1].Term, true, _bus[1].Entries.LastIndex, 0));
        Assert.Equal(0UL, _bus[1].Leading!.LagOf(2));
        Step();
        _bus.Settle();
        Assert.NotNull(_bus[3].Leading ?? _bus[4].Leading);
    }

    private IEnumerable<ulong> Voters => _bus[1].Entries.Configuration.Voters.Select(static voter => voter.Node);

    private void Step() => _keeper.Step(_bus[1], _state);

    private void Apply(Request request) => _state.Apply(++_index, OperationCodec.WriteEntry([request]));

    private void Fail(ulong node) => Apply(new(default, 0, 0, new Exclude([new(_state.FindNode(node)!.Id, true)])));

    private void Leave(ulong node) => Apply(new(_state.FindNode(node)!.Id, 1, 1, new Depart(false)));

    private void Vote(params ulong[] nodes)
    {
        foreach (ulong node in nodes)
        {
            _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.WithLearner(LogBus.ReplicaOf(node)));
            _bus.Settle();
            _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(node)));
            _bus.Settle();
        }
        // All voters have just answered.
        _bus[1].Leading!.OnTimer();
        _bus.Settle();
    }
}
