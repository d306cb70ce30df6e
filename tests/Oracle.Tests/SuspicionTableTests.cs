using GroupCore.Membership;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Which process suspects which, as long as it says so (failure-detection.md#a-cut-not-single-exclusions).</summary>
public sealed class SuspicionTableTests
{
    private readonly SuspicionTable _table = new();
    private readonly OracleState _state;
    private readonly ProcessId[] _ids;

    public SuspicionTableTests()
    {
        var node = new LogBus().Add(99);
        _state = new(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
        for (ulong number = 1; number <= 3; number++)
            _state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second))]));
        _ids = [.. _state.Processes.Select(static process => process.Id)];
    }

    [Fact]
    public void Each_observer_counts_once_with_what_it_said_last()
    {
        _table.Add(_ids[0], _ids[1], Suspicion.Timeout, 0, now: 10);
        _table.Add(_ids[0], _ids[2], Suspicion.Timeout, 0, now: 20);
        _table.Add(_ids[0], _ids[1], Suspicion.Refused, 3, now: 30);
        Assert.Equal((1, 2, 0), (_table.Count, _table.CountOf(_ids[0]), _table.CountOf(_ids[1])));
        // The suspicion counts from when it was first reported.
        Assert.Equal(new SuspicionReport(Suspicion.Refused, 3, 30, 10), _table[_ids[0]][_ids[1]]);
    }

    [Fact]
    public void A_suspicion_that_is_withdrawn_leaves_the_others_and_begins_anew_when_it_comes_back()
    {
        _table.Add(_ids[0], _ids[1], Suspicion.Timeout, 0, now: 10);
        _table.Add(_ids[0], _ids[2], Suspicion.Timeout, 0, now: 10);
        _table.Remove(_ids[0], _ids[1]);
        _table.Remove(_ids[0], _ids[1]);
        _table.Remove(_ids[1], _ids[0]);
        Assert.Equal(1, _table.CountOf(_ids[0]));
        _table.Add(_ids[0], _ids[1], Suspicion.Timeout, 0, now: 50);
        Assert.Equal(50, _table[_ids[0]][_ids[1]].Since);
        _table.Remove(_ids[0], _ids[1]);
        _table.Remove(_ids[0], _ids[2]);
        Assert.Empty(_table);
    }

    [Fact]
    public void A_suspicion_that_is_not_repeated_for_two_seconds_ends()
    {
        _table.Add(_ids[0], _ids[1], Suspicion.Timeout, 0, now: 0);
        _table.Add(_ids[0], _ids[2], Suspicion.Timeout, 0, now: 1);
        _table.Expire(_state, 2 * Durations.Second);
        Assert.Equal(2, _table.CountOf(_ids[0]));
        _table.Expire(_state, (2 * Durations.Second) + 1);
        Assert.Equal(1, _table.CountOf(_ids[0]));
        _table.Expire(_state, 10 * Durations.Second);
        Assert.Empty(_table);
    }

    [Fact]
    public void What_a_process_says_ends_with_it()
    {
        _table.Add(_ids[0], _ids[1], Suspicion.Timeout, 0, now: 0);
        _table.Add(_ids[2], _ids[1], Suspicion.Timeout, 0, now: 0);
        _table.Add(_ids[2], _ids[0], Suspicion.Timeout, 0, now: 0);
        Exclude(_ids[1]);
        _table.Expire(_state, 0);
        Assert.Equal([_ids[2]], _table.Select(static one => one.Subject));
        Assert.Equal([_ids[0]], _table[_ids[2]].Keys);
    }

    [Fact]
    public void What_is_said_of_a_process_ends_when_nothing_is_known_of_it_any_more()
    {
        _table.Add(_ids[0], _ids[1], Suspicion.Timeout, 0, now: 0);
        Exclude(_ids[0]);
        Assert.Null(_state.Find(_ids[0]));
        _table.Expire(_state, 0);
        Assert.Empty(_table);
    }

    private void Exclude(ProcessId process) => _state.Apply(10, OperationCodec.WriteEntry([new(default, 0, 0, new Exclude([new(process, true)]))]));
}
