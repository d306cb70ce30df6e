using GroupCore.Membership;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>
/// Two of nine fall silent together (failure-detection.md#a-cut-not-single-exclusions). Each of the nine is watched by the eight others, and six suspicions exclude a process.
/// Each of the silent two counts as an observer of the other, so suspicions of five live processes are enough.
/// </summary>
public sealed class CutDetectorTests
{
    private readonly LogBus _bus = new();
    private readonly OracleState _state;
    private readonly CutDetector _detector;
    private readonly ProcessId _first;
    private readonly ProcessId _second;
    private readonly List<ProcessId> _others;

    public CutDetectorTests()
    {
        var node = _bus.Add(99);
        _state = new(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
        for (ulong number = 1; number <= 9; number++)
            _state.Apply(number, OperationCodec.WriteEntry([new(default, 0, 0, new Register(number, LogBus.ReplicaOf(number).Address, "", "", 0, 0, Durations.Second))]));
        _detector = new(node, new(), new());
        (_first, _second) = (_state.FindNode(1)!.Id, _state.FindNode(2)!.Id);
        _others = [.. _state.Processes.Skip(2).Select(static process => process.Id)];
        foreach (var observer in _others.Take(5)) _detector.Suspect(_first, observer, Suspicion.Timeout, 0);
        foreach (var observer in _others.Take(4)) _detector.Suspect(_second, observer, Suspicion.Timeout, 0);
    }

    /// <summary>Otherwise one view change would exclude the first, and another one, which supersedes it, the second.</summary>
    [Fact]
    public void A_process_that_may_be_excluded_waits_for_another_that_is_suspected_and_both_are_excluded_together()
    {
        Assert.Empty(Decided());
        _detector.Suspect(_second, _others[4], Suspicion.Timeout, 0);
        Assert.Equal([_first, _second], Decided());
    }

    /// <summary>A suspicion that stays between the two bounds must not keep another process in the system for longer.</summary>
    [Fact]
    public void The_wait_for_another_that_is_suspected_lasts_a_second()
    {
        Assert.Empty(Decided());
        _bus.Pass(Durations.Second - 1);
        Assert.Empty(Decided());
        _bus.Pass(1);
        Assert.Equal([_first], Decided());
    }

    private List<ProcessId> Decided() => _detector.Decide(_state, 9, default, static _ => true).ConvertAll(static failure => failure.Process);
}
