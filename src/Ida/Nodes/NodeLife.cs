using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle;

namespace Ida.Nodes;

/// <summary>
/// One life of a node: the Oracle's part in this process and the groups above it, attached to one <see cref="INode"/>. The same under the
/// loop thread and under the simulator.
/// </summary>
internal sealed class NodeLife : ITimerTarget, IStopListener
{
    private const long StartLimit = 1;
    private const long DepartLimit = 2;
    private const long DepartNow = 3;
    private const long DepartTime = 3_000_000_000;
    private readonly IdaNodeOptions _options;
    private readonly Action<NodeLife, Exception> _onLost;
    private readonly TaskCompletionSource _registered = new();
    private readonly TaskCompletionSource _departed = new();
    private string _lastWord = "nobody answered";
    private volatile bool _departing;
    private volatile Exception? _stopped;

    /// <summary>Attaches everything to <paramref name="node"/>, before its first turn.</summary>
    /// <param name="node">The node of this life.</param>
    /// <param name="options">Options of the node.</param>
    /// <param name="membership">Options of its membership.</param>
    /// <param name="onLost">Called outside of the loop when this life, once registered, was ended by exclusion (<see cref="PoisonedException"/>) or by a fault
    /// (<see cref="NodeFaultedException"/>).</param>
    public NodeLife(INode node, IdaNodeOptions options, OracleOptions membership, Action<NodeLife, Exception> onLost)
    {
        (Node, _options, _onLost, Began) = (node, options, onLost, node.Now);
        Oracle = new OracleMember(node, membership);
        Groups = new GroupHost(node, new MembershipTap(Oracle, OnState), options.ForGroups());
        node.AtStop(this);
        if (TimeLimit.Due(node.Now, options.StartTimeout) is < TimeLimit.Never and var due) node.SetTimer(due, this, StartLimit);
        Oracle.Start();
    }

    public INode Node { get; }

    /// <summary>When it began, by the clock of <see cref="Node"/>.</summary>
    public long Began { get; }

    /// <summary>What ended it, if a fault did.</summary>
    public NodeFaultedException? Fault => _stopped as NodeFaultedException;

    /// <summary>Where it stands with the primary partition, and whether it has ended.</summary>
    public MembershipState State
    {
        get
        {
            if (_stopped is NodeFaultedException) return MembershipState.Faulted;
            var state = Oracle.State;
            return (state == MembershipState.Poisoned && !_departing) || _stopped is null ? state : MembershipState.Stopped;
        }
    }

    public OracleMember Oracle { get; }

    public GroupHost Groups { get; }

    /// <summary>Ends when the cluster has registered this life; faults when it did not within the time allowed.</summary>
    public Task Registered => _registered.Task;

    /// <summary>Lets the DHTs hand over, then takes leave of the cluster, so that nobody has to find out; at most for 3 s after the hand-over.</summary>
    public async ValueTask DepartAsync()
    {
        Node.Post(new Departure(this));
        await _departed.Task.ConfigureAwait(false);
    }

    public void OnTimer(long token)
    {
        if (token == DepartNow)
        {
            Node.SetTimer(Node.Now + DepartTime, this, DepartLimit);
            Oracle.Depart();
        }
        else if (token == DepartLimit) Complete(() => _departed.TrySetResult());
        else if (Oracle.State == MembershipState.Starting) Complete(() => _registered.TrySetException(Unreachable()));
    }

    private void OnState(MembershipState state, string reason)
    {
        if (reason.Length > 0) _lastWord = reason;
        if (state == MembershipState.Poisoned)
        {
            bool wanted = _departing;
            Complete(() =>
            {
                _departed.TrySetResult();
                var poisoned = new PoisonedException(reason);
                if (!_registered.TrySetException(poisoned) && !wanted) _onLost(this, poisoned);
            });
        }
        else if (state == MembershipState.Starting)
        {
            if (Oracle.Stranded) Complete(() => _registered.TrySetException(WrongCluster()));
        }
        else
        {
            Complete(() => _registered.TrySetResult());
        }
    }

    void IStopListener.OnStop(Exception reason)
    {
        _stopped = reason;
        Complete(() =>
        {
            _departed.TrySetResult();
            if (!_registered.TrySetException(reason) && reason is NodeFaultedException) _onLost(this, reason);
            // Nobody may be waiting any more.
            _ = _registered.Task.Exception;
        });
    }

    private ClusterUnreachableException Unreachable() => new(
        $"Cluster '{_options.Cluster}' was not found at {string.Join(", ", _options.Seeds)} within {_options.StartTimeout.TotalSeconds:0.#} s: {_lastWord}.");

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
