using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// At most two checkpoints of a group are written at a time, the newest and one whose view is over and which ends where it is: with many short
/// views and a large state there would be as many copies of it as views.
/// </summary>
internal sealed class StateWriting(INode node)
{
    private const int Most = 2;
    private readonly List<StateCut> _running = [];
    private StateCut? _next;

    public void Begin(StateCut cut)
    {
        if (cut.IsDropped) return;
        // One that waited is of a view that is over. Where one waited until it was given up, those before it may never return: nobody waits for them again.
        bool stuck = _next is { Error: not null };
        _next = cut;
        if (stuck || _running.Count(static running => running.Error is null) < Most) StartNext();
    }

    /// <summary>A checkpoint is written, or was dropped meanwhile.</summary>
    public void OnDone(StateCut cut)
    {
        if (_running.Remove(cut)) StartNext();
    }

    private void StartNext()
    {
        if (_next is { IsDropped: false, Error: null } next)
        {
            _running.Add(next);
            node.Complete(next);
        }
        _next = null;
    }
}
