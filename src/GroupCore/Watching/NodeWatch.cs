using GroupCore.Diagnostics;
using GroupCore.Runtime;

namespace GroupCore.Watching;

/// <summary>
/// Looks once a second at the counters and queues of a node with a logger, and tells the log what has begun or ended since. So the code that handles messages and
/// calls need not log anything. Without a logger it only counts turns.
/// </summary>
internal sealed class NodeWatch : ITimerTarget, ITurnParticipant, IStopListener
{
    /// <summary>Nanoseconds between two looks.</summary>
    public const long Every = 1_000_000_000;

    /// <summary>A turn of this length, in nanoseconds, is slow: all else that the node does waits that long.</summary>
    public const long SlowTurn = 100_000_000;
    private const int PruneEvery = 60;

    // The other reasons also occur in normal operation: when a view or a membership ends, its frames are still on their way.
    private static readonly RefusalReason[] s_trouble =
    [
        RefusalReason.Framing, RefusalReason.Malformed, RefusalReason.WrongCluster, RefusalReason.UnknownType,
        RefusalReason.Handshake, RefusalReason.Muted, RefusalReason.Exhausted, RefusalReason.Displaced, RefusalReason.Untrusted, RefusalReason.NotEntitled,
    ];

    private readonly INode _node;
    private readonly NodeLog _log;
    private readonly Action<long> _look;
    private readonly LinkLog? _links;
    private readonly Episode[] _refused = new Episode[s_trouble.Length];
    private long _forbidden;
    private long _turn = long.MinValue;
    private bool _isTold;
    private long _turns;
    private long _longestTurn;
    private long _looks;
    private bool _callersWait;
    private bool _linksFull;

    /// <summary>Attaches it to a node, after all protocols, since it measures their turns.</summary>
    /// <param name="node">The node.</param>
    /// <param name="look">Looks at what else is to be watched; gets the time; runs inside a turn.</param>
    public NodeWatch(INode node, Action<long> look)
    {
        (_node, _log, _look) = (node, node.Log, look);
        node.AtEndOfTurn(this);
        if (!_log.IsOn) return;
        _links = new(node);
        node.Observe(_links);
        node.AtStop(this);
        node.SetTimer(node.Now + Every, this, 0);
    }

    /// <summary>The node.</summary>
    public INode Node => _node;

    /// <summary>Turns in which something happened. From any thread.</summary>
    public long Turns => Volatile.Read(ref _turns);

    /// <summary>The longest turn in nanoseconds; measured only with a logger, since measuring reads the clock. From any thread.</summary>
    public long LongestTurn => Volatile.Read(ref _longestTurn);

    public void EndOfTurn()
    {
        // Counted once per turn, though the end of a turn may run twice.
        if (_turn != _node.Now)
        {
            Volatile.Write(ref _turns, _turns + 1);
            _isTold = false;
        }
        _turn = _node.Now;
        if (!_log.IsOn) return;
        long took = _node.Clock() - _turn;
        if (took > _longestTurn) Volatile.Write(ref _longestTurn, took);
        if (took < SlowTurn || _isTold) return;
        _isTold = true;
        _log.TurnSlow(took / 1_000_000);
    }

    void IStopListener.OnStop(Exception reason)
    {
        // The last look, for what came since the one before.
        LookAtInput();
        _links!.Look();
        if (reason is NodeFaultedException fault) _log.NodeFaulted(fault.InnerException ?? fault);
    }

    void ITimerTarget.OnTimer(long token)
    {
        _node.SetTimer(_node.Now + Every, this, 0);
        LookAtInput();
        LookAtQueues();
        _links!.Look();
        if (++_looks % PruneEvery == 0) _links.Prune();
        _look(_node.Now);
    }

    private void LookAtInput()
    {
        for (int i = 0; i < s_trouble.Length; i++)
        {
            ref var episode = ref _refused[i];
            int change = episode.Look(_node.Counters.Refused(s_trouble[i]), _node.Now);
            if (change > 0) _log.InputRefused($"{s_trouble[i]}", episode.Cases);
            else if (change < 0) _log.InputAccepted($"{s_trouble[i]}", episode.Cases);
        }
        long forbidden = _node.Counters.Forbidden;
        if (forbidden != _forbidden) _log.StepForbidden(forbidden - _forbidden);
        _forbidden = forbidden;
    }

    private void LookAtQueues()
    {
        int waiting = (_node as Runtime.Node)?.CommandsWaiting ?? 0;
        if (waiting > 0 && !_callersWait) _log.CallersWait(waiting);
        else if (waiting == 0 && _callersWait) _log.CallersGoOn();
        _callersWait = waiting > 0;
        bool full = _node.Links.IsFull;
        if (full && !_linksFull) _log.LinksFull(_node.Links.Quota?.Bytes ?? 0);
        else if (!full && _linksFull) _log.LinksHaveRoom();
        _linksFull = full;
    }
}
