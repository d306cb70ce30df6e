using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>News for all processes, or for many that are excluded, goes to a bounded number of them with each step, since each may have to be dialled.</summary>
public sealed class DecisionBroadcasterTests
{
    private const int Processes = 600;
    private const int Once = 256;
    private readonly TellingLinks _links = new();
    private readonly LogBus.Part _node;
    private readonly OracleState _state;
    private readonly DecisionBroadcaster _broadcaster;

    public DecisionBroadcasterTests()
    {
        _node = new(new(), 1, _links);
        _node.Log.Found(LogBus.ReplicaOf(1));
        _state = new(new OracleReplica(_node, new(), new(_node), () => { }, () => { }), OracleRules.All);
        for (ulong node = 2; node < Processes + 2; node++)
            _state.Apply(node, OperationCodec.WriteEntry([new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second))]));
        _broadcaster = new(_node, new(_node));
    }

    [Fact]
    public void When_a_leadership_begins_each_process_is_told_once_a_bounded_number_at_a_time()
    {
        _broadcaster.Begin(_state, _node.Log);
        AssertEachIsTold();
    }

    /// <summary>Otherwise the first processes would hear of each change, and the last ones of none.</summary>
    [Fact]
    public void Changes_that_come_faster_than_all_are_told_keep_nobody_waiting()
    {
        for (int step = 0; step < 3; step++)
        {
            _broadcaster.Replicas(_state, _node.Log);
            _broadcaster.Replicas(_state, _node.Log);
            _broadcaster.Step(_state, _node.Log);
        }
        Assert.Equal(Processes, _links.Told.Distinct().Count());
        Assert.InRange(_links.Told.Count, Processes, 4 * Once);
    }

    [Fact]
    public void Processes_that_are_excluded_together_are_told_once_each_a_bounded_number_at_a_time()
    {
        foreach (var process in _state.Processes.ToList()) _broadcaster.SendExcluded(process);
        AssertEachIsTold();
    }

    [Fact]
    public void A_process_that_is_excluded_before_it_is_told_of_the_replicas_is_not_told_of_them()
    {
        _broadcaster.Begin(_state, _node.Log);
        var last = _state.Processes.Last();
        _state.Apply(Processes + 2, OperationCodec.WriteEntry([new(default, 0, 0, new Exclude([new(last.Id, true)]))]));
        for (int step = 0; step < 5; step++) _broadcaster.Step(_state, _node.Log);
        Assert.DoesNotContain((int)last.Id.Node, _links.Told);
        Assert.Equal(Processes - 1, _links.Told.Count);
    }

    [Fact]
    public void What_a_leadership_had_to_tell_ends_with_it()
    {
        _broadcaster.Begin(_state, _node.Log);
        foreach (var process in _state.Processes.ToList()) _broadcaster.SendExcluded(process);
        int before = _links.Told.Count;
        _broadcaster.Clear();
        _broadcaster.Step(_state, _node.Log);
        Assert.Equal(before, _links.Told.Count);
    }

    private void AssertEachIsTold()
    {
        AssertTold(1);
        for (int step = 2; step <= 5; step++)
        {
            _broadcaster.Step(_state, _node.Log);
            AssertTold(step);
        }
        Assert.Equal(Processes, _links.Told.Distinct().Count());
    }

    private void AssertTold(int steps) => Assert.Equal(Math.Min(Processes, steps * Once), _links.Told.Count);
}
