using GroupCore.Basics;
using GroupCore.Diagnostics;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Watching;
using Oracle;

namespace Ida.Nodes;

/// <summary>
/// One life of a node: the Oracle's part in this process and the groups above it, attached to one <see cref="INode"/>. The same under the
/// loop of production and under the simulator.
/// </summary>
internal sealed class NodeLife : ITimerTarget, IStopListener
{
    private const long StartLimit = 1;
    private const long DepartLimit = 2;
    private const long DepartNow = 3;
    private const long DepartTime = 3_000_000_000;
    private readonly IdaNodeOptions _options;
    private readonly TaskCompletionSource _registered = new();
    private readonly TaskCompletionSource _departed = new();
    private readonly TaskCompletionSource<Exception> _lost = new();
    private string _lastWord = "nobody answered";
    private volatile bool _departing;
    private volatile Exception? _stopped;
    private int _lostTold, _faultTold;

    /// <summary>Attaches everything to <paramref name="node"/>, before its first turn.</summary>
    /// <param name="node">The node of this life.</param>
    /// <param name="options">Options of the node.</param>
    /// <param name="membership">Options of its membership.</param>
    /// <param name="log">Where its log lines go, if there is a logger.</param>
    /// <param name="spent">How much of the time for the start is over.</param>
    public NodeLife(INode node, IdaNodeOptions options, OracleOptions membership, LogQueue? log = null, TimeSpan spent = default)
    {
        (Node, _options, Began) = (node, options, node.Now);
        if (log is not null) Attach(node, log);
        var time = options.StartTimeout == Timeout.InfiniteTimeSpan ? options.StartTimeout : TimeSpan.FromTicks(Math.Max(1, (options.StartTimeout - spent).Ticks));
        Oracle = new OracleMember(node, membership with { StartTimeout = time });
        Groups = new GroupHost(node, new MembershipTap(Oracle, OnState), options.ForGroups());
        node.AtStop(this);
        if (TimeLimit.Due(node.Now, time) is < TimeLimit.Never and var due) node.SetTimer(due, this, StartLimit);
        Oracle.Start();
        Watch = new(node, Groups.Look);
    }

    public INode Node { get; }

    /// <summary>When this life began, by the clock of <see cref="Node"/>.</summary>
    public long Began { get; }

    /// <summary>Whether its node has stopped or faulted. From any thread.</summary>
    public bool HasEnded => _stopped is not null;

    /// <summary>The fault that ended this life, if one did.</summary>
    public NodeFaultedException? Fault => _stopped as NodeFaultedException;

    /// <summary>The membership state of this life, and whether it has ended.</summary>
    public MembershipState State
    {
        get
        {
            if (_stopped is NodeFaultedException) return MembershipState.Faulted;
            var state = Oracle.State;
            return (state == MembershipState.Excluded && !_departing) || _stopped is null ? state : MembershipState.Stopped;
        }
    }

    /// <summary>Whether this life has ended. Already true when a call gets the exception that reports the end.</summary>
    public bool IsOver => State is MembershipState.Excluded or MembershipState.Stopped or MembershipState.Faulted;

    /// <summary>What looks at this life once a second, if there is a logger.</summary>
    public NodeWatch Watch { get; }

    public OracleMember Oracle { get; }

    public GroupHost Groups { get; }

    /// <summary>Ends when the cluster has registered this life; faults when it has not done so within the time allowed.</summary>
    public Task Registered => _registered.Task;

    /// <summary>
    /// Ends, outside of the loop, with the exception that first ended this life against its will: exclusion (<see cref="ExcludedException"/>)
    /// or a fault (<see cref="NodeFaultedException"/>).
    /// </summary>
    public Task<Exception> Lost => _lost.Task;

    /// <summary>Lets the DHTs hand over, then takes leave of the cluster, so that no other node has to detect the absence; at most for 3 s after the hand-over.</summary>
    public async ValueTask DepartAsync()
    {
        Node.Post(new Departure(this));
        await _departed.Task.ConfigureAwait(false);
    }

    /// <summary>Tells the log, once, that this life has ended against its will, and what follows. False if the log was told before.</summary>
    public bool TellLost(Exception reason, string follows)
    {
        if (Interlocked.Exchange(ref _lostTold, 1) != 0) return false;
        Node.Log.NodeLost(reason.Message, follows);
        return true;
    }

    /// <summary>Tells the log, once, what went wrong on the way out, when no turn ran any more; but not again what ended this life.</summary>
    public void TellFault(NodeFaultedException? fault)
    {
        if (fault?.InnerException is { } thrown && thrown != Fault?.InnerException && Interlocked.Exchange(ref _faultTold, 1) == 0) Node.Log.NodeFaulted(thrown);
    }

    public void OnTimer(long token)
    {
        if (token == DepartNow)
        {
            Node.SetTimer(Node.Clock() + DepartTime, this, DepartLimit);
            Oracle.Depart();
        }
        else if (token == DepartLimit) Complete(() => _departed.TrySetResult());
        else if (Oracle.State == MembershipState.Starting) Complete(() => FailStart(Unreachable()));
    }

    private static void Attach(INode node, LogQueue log)
    {
        var write = new ActionCompletion(log.Write);
        node.Log = new(log, () => node.Links.Local.Text, () => node.Resume(write));
    }

    private void OnState(MembershipState state, string reason)
    {
        if (reason.Length > 0) _lastWord = reason;
        if (state == MembershipState.Excluded)
        {
            bool wanted = _departing;
            Complete(() =>
            {
                _departed.TrySetResult();
                Lose(new ExcludedException(reason), wanted);
            });
        }
        else if (state == MembershipState.Starting)
        {
            if (Oracle.Stranded) Complete(() => FailStart(WrongCluster()));
        }
        else
        {
            Complete(() => _registered.TrySetResult());
        }
    }

    void IStopListener.OnStop(Exception reason)
    {
        _stopped = reason;
        NodeMeters.Remove(this);
        Complete(() =>
        {
            _departed.TrySetResult();
            Lose(reason, reason is not NodeFaultedException);
        });
    }

    private void Lose(Exception reason, bool wanted)
    {
        if (!wanted) _lost.TrySetResult(reason);
        FailStart(reason);
    }

    private void FailStart(Exception reason)
    {
        // There may be nobody who waits: observe the exception.
        if (_registered.TrySetException(reason)) _ = _registered.Task.Exception;
    }

    private ClusterUnreachableException Unreachable() => new(
        $"Cluster '{_options.Cluster}' was not found at {string.Join(", ", _options.Seeds)} within {_options.StartTimeout.TotalSeconds:0.#} s: {LastWord()}.{Untrusted()}");

    private string LastWord() => _lastWord.EndsWith(Oracle.UnknownSeeds, StringComparison.Ordinal) ? _lastWord : _lastWord + Oracle.UnknownSeeds;

    private string Untrusted() => Node.Counters.Refused(RefusalReason.Untrusted) == 0
        ? ""
        : " A process there did not show that it belongs to the cluster: Security differs, or its keys or certificates do. The log says which process, and why.";

    private WrongClusterException WrongCluster() => new(
        $"Cluster '{_options.Cluster}' is not at {string.Join(", ", _options.Seeds)}: a node of another cluster answers there.");

    private void Complete(Action work) => Node.Complete(new ActionCompletion(work));

    private sealed class Departure(NodeLife life) : NodeCommand
    {
        public override void Run()
        {
            life._departing = true;
            life.Groups.HandOver(() => life.Node.SetTimer(life.Node.Now, life, DepartNow));
        }

        public override void Abandon(Exception reason) => life.Complete(() => life._departed.TrySetResult());
    }
}
