using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Process 1 leads, 1 to 3 vote, 4 and 5 do not. Whichever processes are suspected, a majority of voters that answer must stay.</summary>
public sealed class VoterMajorityTests
{
    private readonly LogBus _bus = new();
    private readonly OracleState _state;

    public VoterMajorityTests()
    {
        for (ulong node = 1; node <= 3; node++) _bus.Add(node);
        _bus[1].Found(LogBus.ReplicaOf(1));
        _bus.Settle();
        foreach (ulong node in (ulong[])[2, 3])
        {
            _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.WithLearner(LogBus.ReplicaOf(node)));
            _bus.Settle();
            _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(node)));
            _bus.Settle();
        }
        _state = new(new OracleReplica(_bus.Parts[1], new(), new(_bus.Parts[1]), () => { }, () => { }), OracleRules.All);
        for (ulong node = 1; node <= 5; node++) _state.Apply(node, OperationCodec.WriteEntry([new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second))]));
        // All voters have just answered.
        _bus[1].Leading!.OnTimer();
        _bus.Settle();
    }

    [Theory]
    [InlineData(new ulong[] { 2 }, new ulong[] { 2 })]
    [InlineData(new ulong[] { 2, 3 }, new ulong[] { 2 })]
    [InlineData(new ulong[] { 2, 3, 4, 5 }, new ulong[] { 2, 4, 5 })]
    [InlineData(new ulong[] { 1, 2 }, new ulong[] { 2 })]
    [InlineData(new ulong[] { 1, 4 }, new ulong[] { 1, 4 })]
    [InlineData(new ulong[] { 1, 2, 3 }, new ulong[] { 2 })]
    public void As_many_suspected_voters_that_answer_stay_as_are_needed_to_decide(ulong[] suspected, ulong[] go) => Assert.Equal(go, Keep(suspected, []));

    /// <summary>The leader was elected by the previous configuration and votes no more. Sparing it does not help the majority, so voters that answer have to stay.</summary>
    [Fact]
    public void A_leader_that_does_not_vote_is_not_spared_for_the_majority()
    {
        _bus[1].Leading!.TryChange(_bus[1].Entries.Configuration.Demote(LogBus.ReplicaOf(1)));
        _bus.Settle();
        Assert.Equal([1], Keep([1, 2, 3], []));
    }

    /// <summary>Sparing voters that are silent or gone would help nobody.</summary>
    [Fact]
    public void A_voter_that_does_not_answer_is_not_spared()
    {
        _bus.Connect(1, 2);
        _bus.Pass(2 * Durations.Second);
        _bus[1].Leading!.EndOfTurn();
        Answer(2);
        Assert.Equal([3], Keep([2, 3], []));
        _bus.Pass(2 * Durations.Second);
        Assert.Equal([2, 3], Keep([2, 3], []));
    }

    /// <summary>A leadership often begins because the previous leader is gone. A voter that has not answered the new leader yet may be that one.</summary>
    [Fact]
    public void A_voter_that_has_not_answered_a_new_leader_is_not_spared()
    {
        _bus.Connect(1, 2);
        _bus.Pass(2 * Durations.Second);
        _bus[1].Leading!.OnTimer();
        Assert.Null(_bus[1].Leading);
        _bus.Campaign(1);
        Assert.NotNull(_bus[1].Leading);
        Assert.Equal([3], Keep([2, 3], []));
    }

    [Fact]
    public void A_voter_that_is_proved_dead_is_excluded_and_one_on_the_way_out_does_not_count()
    {
        Assert.Equal([2, 3], Keep([2, 3], [], proved: true));
        Assert.Equal([], Keep([2], [3]));
        Assert.Equal([4], Keep([1, 2, 4], [3]));
    }

    private void Answer(ulong node) =>
        _bus[1].OnFrame(LogBus.ReplicaOf(node), new Raft.AppendReply(_bus[1].Term, true, _bus[1].Entries.LastIndex, 0));

    private IEnumerable<ulong> Keep(ulong[] suspected, ulong[] excluding, bool proved = false)
    {
        var failures = suspected.Select(node => new Exclusion(_state.FindNode(node)!.Id, proved)).ToList();
        var leaving = new SortedSet<GroupCore.Membership.ProcessId>(excluding.Select(node => _state.FindNode(node)!.Id));
        VoterMajority.Keep(failures, _bus[1].Leading!, _bus[1].Entries.Configuration, _state, leaving, 1, _bus.Parts[1].Now);
        return failures.Select(failure => failure.Process.Node);
    }
}
