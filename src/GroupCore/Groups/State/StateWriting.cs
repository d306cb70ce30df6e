using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// Writes at most two checkpoints of a group at a time: the newest, and one whose view is over, until the code that writes it has ended. Otherwise many
/// short views and a large state would make as many copies of it as views.
/// </summary>
/// <remarks>
/// User code that writes nothing for <see cref="GroupHostOptions.SaveTimeout"/> is given up, whether its view is over or not, so that it blocks
/// other checkpoints no longer. While joiners wait, views may come faster than that: so the times in which successive checkpoints came no further
/// count together.
/// </remarks>
internal sealed class StateWriting(INode node, TimeSpan limit)
{
    private const int Most = 2;
    private readonly List<StateCut> _running = [];
    private StateCut? _next;
    // Of successive checkpoints of whose end joiners were not told: for how long they wrote nothing in all, and the most bytes that one of them wrote.
    private long _quiet;
    private int _most;

    private long Limit => (long)limit.TotalNanoseconds;

    /// <summary>A checkpoint is taken. It replaces one that waits, whose view is over.</summary>
    public void Begin(StateCut cut)
    {
        if (cut.IsDropped) return;
        _next = cut;
        cut.StandInLine();
        GiveUpQuiet();
        StartNext();
    }

    /// <summary>A checkpoint is written, or was dropped meanwhile.</summary>
    public void OnWritten(StateCut cut)
    {
        if (_running.Remove(cut)) StartNext();
    }

    /// <summary>Called now and then, while joiners wait for a checkpoint.</summary>
    public void GiveUpQuietCuts(StateCut cut)
    {
        long quiet = QuietWith(cut);
        if (cut.Phase == StatePhase.Saving && quiet >= Limit) cut.GiveUp(limit);
        GiveUpQuiet();
        StartNext();
    }

    /// <summary>The view of a checkpoint is over, and its joiners wait for the next one's. If its writing has not begun, what it would be written from is released.</summary>
    public void Drop(StateCut cut)
    {
        if (ReferenceEquals(_next, cut)) _next = null;
        long quiet = QuietWith(cut);
        if (cut.Phase == StatePhase.Saving) _quiet = quiet;
        cut.Drop();
    }

    /// <summary>Joiners were told how the saving of their state ended, or there are none: later joiners begin to wait afresh.</summary>
    public void Forget() => (_quiet, _most) = (0, 0);

    // A checkpoint larger than all before it has made progress, so the time begins again. One that joiners were told about does not count for later joiners.
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
            next.Start();
        }
        _next = null;
    }
}
