using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// At most two checkpoints of a group are written at a time, the newest and one whose view is over and which ends where it is: with many short
/// views and a large state there would be as many copies of it as views.
/// </summary>
/// <remarks>
/// User code that writes nothing for <see cref="GroupHostOptions.SaveTimeout"/> is given up, whether its view is over or not, so that it is in
/// nobody's way for longer. Joiners wait through views that come faster: the time in which the checkpoints of one after the other came no
/// further counts together.
/// </remarks>
internal sealed class StateWriting(INode node, TimeSpan limit)
{
    private const int Most = 2;
    private readonly List<StateCut> _running = [];
    private StateCut? _next;
    // Of those that joiners were told nothing of: for how long they wrote nothing, one after the other, and the most that one wrote.
    private long _quiet;
    private int _most;

    private long Limit => (long)limit.TotalNanoseconds;

    /// <summary>A checkpoint is taken. One that waited is of a view that is over.</summary>
    public void Begin(StateCut cut)
    {
        if (cut.IsDropped) return;
        _next = cut;
        cut.StandInLine();
        GiveUpQuiet();
        StartNext();
    }

    /// <summary>A checkpoint is written, or was dropped meanwhile.</summary>
    public void OnDone(StateCut cut)
    {
        if (_running.Remove(cut)) StartNext();
    }

    /// <summary>Now and then, while joiners wait for a checkpoint.</summary>
    public void Look(StateCut cut)
    {
        long quiet = QuietWith(cut);
        if (cut.Phase == StatePhase.Saving && quiet >= Limit) cut.GiveUp(limit);
        GiveUpQuiet();
        StartNext();
    }

    /// <summary>The view of a checkpoint is over, and its joiners wait for the next one's. What it would be written from is held no longer.</summary>
    public void Drop(StateCut cut)
    {
        if (ReferenceEquals(_next, cut)) _next = null;
        long quiet = QuietWith(cut);
        if (cut.Phase == StatePhase.Saving) _quiet = quiet;
        cut.Drop();
    }

    /// <summary>Joiners were told how the saving of their state ended, or there are none: others wait afresh.</summary>
    public void Forget() => (_quiet, _most) = (0, 0);

    // One that is further than all before it does write. What joiners were told of is no measure for those that wait afresh.
    private long QuietWith(StateCut cut)
    {
        if (cut.IsTold) return 0;
        long quiet = cut.QuietFor(node.Now);
        if (cut.Bytes.Length > _most) (_quiet, _most) = (0, cut.Bytes.Length);
        return quiet + _quiet;
    }

    private void GiveUpQuiet()
    {
        foreach (var cut in _running)
            if (cut.Error is null && cut.QuietFor(node.Now) >= Limit) cut.GiveUp(limit);
    }

    private void StartNext()
    {
        if (_next is null || _running.Count(static running => running.Error is null) >= Most) return;
        if (_next is { IsDropped: false, Error: null } next)
        {
            _running.Add(next);
            next.Start(node);
        }
        _next = null;
    }
}
