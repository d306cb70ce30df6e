using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Proposals that stay pending are repeated, a bounded number with each step, and each in its turn.</summary>
public sealed class RepeatedProposalsTests
{
    private const int Once = 256;
    private readonly TellingLinks _links = new();
    private readonly LogBus _bus = new();
    private readonly OracleState _state;
    private readonly DecisionBroadcaster _broadcaster;
    private readonly LogBus.Part _node;
    private ulong _index;

    public RepeatedProposalsTests()
    {
        _node = new(_bus, 1, _links);
        _node.Log.Found(LogBus.ReplicaOf(1));
        _state = new(new OracleReplica(_node, new(), new(_node), () => { }, () => { }), OracleRules.All);
        _broadcaster = new(_node, new(_node));
    }

    /// <summary>Before, when more than ten steps' worth were pending, proposals that were due again took the places of those that were never repeated.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Each_of_thousands_is_repeated_however_many_are_due_again_before_it(bool begins)
    {
        const int groups = 3_000;
        Pending(groups);
        if (begins)
        {
            _broadcaster.Begin(_state, _node.Log);
            // All processes are told of the replicas first.
            for (int step = 0; step < groups / Once; step++) _broadcaster.Step(_state, _node.Log);
            Assert.Equal(groups, _links.Told.Distinct().Count());
        }
        else
        {
            foreach (var group in _state.Groups) _broadcaster.Propose(_state, group);
        }
        _links.Told.Clear();
        for (int step = 0; step < 10 + (groups / Once) + 1; step++)
        {
            _bus.Pass(100 * Durations.Millisecond);
            int before = _links.Told.Count;
            _broadcaster.Step(_state, _node.Log);
            Assert.InRange(_links.Told.Count - before, 0, Once);
        }
        Assert.Equal(groups, _links.Told.Distinct().Count());
    }

    /// <summary>A proposal that was sent again meanwhile is repeated a second after that; one whose view was installed is not repeated.</summary>
    [Fact]
    public void What_is_proposed_anew_is_repeated_once_a_second_and_what_is_decided_no_more()
    {
        Pending(3);
        var groups = _state.Groups.ToList();
        foreach (var group in groups) _broadcaster.Propose(_state, group);
        _bus.Pass(Durations.Second / 2);
        _broadcaster.Propose(_state, groups[0]);
        _broadcaster.Propose(_state, groups[0]);
        _broadcaster.Install(groups[1], []);
        _links.Told.Clear();
        Assert.Equal([4], After(500));
        Assert.Equal([2], After(500));
        Assert.Equal([4], After(500));
        Assert.Equal([2], After(500));

        int[] After(int milliseconds)
        {
            _bus.Pass(milliseconds * Durations.Millisecond);
            _links.Told.Clear();
            _broadcaster.Step(_state, _node.Log);
            return [.. _links.Told];
        }
    }

    /// <summary>Creates the given number of groups, each with one member of its own that a new view is pending for.</summary>
    private void Pending(int groups)
    {
        for (ulong node = 2; node < (ulong)groups + 2; node++)
        {
            Apply(new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
            var id = _state.FindNode(node)!.Id;
            Apply(new(id, 1, 1, new Join($"{node}", new(), 0, "")));
            var group = _state.FindGroup($"{node}")!;
            Apply(new(id, 2, 2, new Renew(group.Id, group.View.Id)));
            Assert.NotNull(group.Pending);
        }
    }

    private void Apply(Request request) => _state.Apply(++_index, OperationCodec.WriteEntry([request]));
}
