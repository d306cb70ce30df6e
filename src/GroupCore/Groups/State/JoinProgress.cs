using GroupCore.Groups.Dispatch;
using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// What a join waits for, and when it last made progress. A join may go on as long as it makes progress: without a limit on the whole, a state of any size can be
/// loaded. On the loop; lives as long as the membership.
/// </summary>
internal sealed class JoinProgress(INode node, Dispatcher dispatcher)
{
    private int _silentGivers;
    private ulong _silentIn;
    private long _giverHandled = -1;
    private (long MovedAt, long Handled) _signed;
    // How far the state ever came within one view, the longest time for which it made progress within one, and when one of these was last surpassed.
    private (StatePhase Phase, long Amount, long Took, long At) _furthest = (default, 0, -1, 0);
    private long _stateMovedAt;

    /// <summary>When the join made progress last.</summary>
    public long At { get; private set; }

    public string WaitsFor { get; private set; } = "the membership service's answer";

    /// <summary>The membership was asked.</summary>
    public void Begin(long now) => At = now;

    /// <summary>The join made progress; next it waits for <paramref name="waitsFor"/>.</summary>
    public void OnProgress(string waitsFor) => (At, WaitsFor) = (node.Now, waitsFor);

    /// <summary>
    /// The state made progress in a view that began at <paramref name="begun"/>: to a later phase, or within its phase by time or bytes. With each view all of it begins
    /// again, and views may come faster than the state. Work that begins again counts as progress for as long as it took before, and after that only in a view that lasts
    /// longer than any before.
    /// </summary>
    public void OnState(StatePhase phase, long amount, long begun, string waitsFor)
    {
        _stateMovedAt = node.Now;
        bool further = phase > _furthest.Phase || (phase == _furthest.Phase && amount > _furthest.Amount);
        if (further) (_furthest.Phase, _furthest.Amount) = (phase, amount);
        if (further || node.Now - begun > _furthest.Took) (_furthest.Took, _furthest.At) = (Math.Max(_furthest.Took, node.Now - begun), node.Now);
        else if (node.Now - _furthest.At > _furthest.Took)
        {
            OnWaits($"{waitsFor}, which begins again with each view");
            return;
        }
        OnProgress(waitsFor);
    }

    /// <summary>A piece of the state has arrived: the giver is not silent.</summary>
    public void OnPiece() => _silentGivers = 0;

    /// <summary>The giver's handlers have not reached the state. It is progress if they have gone on; a view that comes meanwhile is none.</summary>
    public void OnQueued(string giver, long handled, long begun)
    {
        if (handled != _giverHandled) OnState(StatePhase.Queued, node.Now - begun, begun, $"the state that {giver} saves");
        else OnWaits($"a handler at {giver}, which gives the state");
        _giverHandled = handled;
    }

    /// <summary>What the join waits for; this does not count as progress.</summary>
    public void OnWaits(string waitsFor) => WaitsFor = waitsFor;

    /// <summary>The giver of the checkpoint is silent in that view; returns in how many views a giver was. Counted once for each view.</summary>
    public int OnSilence(ulong view)
    {
        if (view != _silentIn) _silentGivers++;
        _silentIn = view;
        return _silentGivers;
    }

    /// <summary>Whether the load of this member, or its catching up after it, has made progress since the last call.</summary>
    public bool HasMoved(bool loading)
    {
        var now = loading ? (Math.Max(_stateMovedAt, At), 0L) : dispatcher.IsCatchingUp ? (0L, dispatcher.Position) : default;
        if (now == default || now == _signed) return false;
        _signed = now;
        return true;
    }
}
