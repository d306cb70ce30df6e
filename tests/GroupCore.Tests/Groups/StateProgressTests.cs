using GroupCore.Groups.Dispatch;
using GroupCore.Groups.State;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>What counts as progress of a join, and what it is said to wait for.</summary>
public sealed class StateProgressTests : IDisposable
{
    private readonly Simulation _simulation = new(6);
    private readonly SimNode _node;
    private readonly JoinProgress _join;

    public StateProgressTests()
    {
        _node = _simulation.AddNode();
        _join = new(_node.Node, new Dispatcher(_node.Node, null!, inline: false));
    }

    public void Dispose() => _simulation.Dispose();

    private void At(double seconds, Action work)
    {
        _simulation.Run(TimeSpan.FromSeconds(seconds) - _simulation.Now);
        _node.Post(work);
        _simulation.Run(TimeSpan.FromMilliseconds(1));
    }

    [Fact]
    public void Work_that_begins_again_is_progress_for_as_long_as_it_took_before()
    {
        long begun = 0, moved = 0;
        At(1, () => begun = _node.Node.Now);
        At(2, () => _join.OnState(StatePhase.Saving, 10, begun, "the state"));
        Assert.Equal("the state", _join.WaitsFor);
        At(2.5, () => _join.OnState(StatePhase.Saving, 1, _node.Node.Now, "the state"));
        moved = _join.At;
        At(3.5, () => _join.OnState(StatePhase.Saving, 2, _node.Node.Now, "the state"));
        Assert.Equal((moved, "the state, which begins again with each view"), (_join.At, _join.WaitsFor));
        At(4, () => _join.OnState(StatePhase.Sending, 0, _node.Node.Now, "the rest"));
        Assert.True(_join.At > moved);
        Assert.Equal("the rest", _join.WaitsFor);
    }

    [Fact]
    public void A_giver_whose_handlers_stand_still_makes_no_progress()
    {
        long moved = 0;
        At(1, () => _join.OnQueued("a", 5, _node.Node.Now));
        moved = _join.At;
        At(2, () => _join.OnQueued("a", 5, _node.Node.Now));
        Assert.Equal((moved, "a handler at a, which gives the state"), (_join.At, _join.WaitsFor));
        At(3, () => _join.OnQueued("a", 6, 0));
        Assert.True(_join.At > moved);
    }

    [Fact]
    public void Silence_counts_once_in_a_view_and_ends_with_a_piece()
    {
        Assert.Equal((1, 1, 2), (_join.OnSilence(3), _join.OnSilence(3), _join.OnSilence(4)));
        _join.OnPiece();
        Assert.Equal(1, _join.OnSilence(5));
    }

    [Fact]
    public void A_load_that_moved_says_so_once()
    {
        At(1, () => _join.OnProgress("more"));
        Assert.True(_join.HasMoved(loading: true));
        Assert.False(_join.HasMoved(loading: true));
        Assert.False(_join.HasMoved(loading: false));
        At(2, () => _join.OnState(StatePhase.Sending, 1, 0, "more"));
        Assert.True(_join.HasMoved(loading: true));
    }
}
