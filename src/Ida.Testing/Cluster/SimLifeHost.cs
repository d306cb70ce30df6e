using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Nodes;
using Oracle;

namespace Ida.Testing;

/// <summary>
/// Lives of a node in the simulator, all on the same simulated host. A program that is started again has a new instance of this, on the host of <paramref name="before"/>.
/// </summary>
internal sealed class SimLifeHost(Simulation simulation, string? name, IReadOnlyList<NodeAddress> seeds, string? without, Func<INode, INode>? tap = null, SimNode? before = null) : ILifeHost
{
    private SimNode? _own;

    /// <summary>The latest life.</summary>
    public SimNode? Node => _own ?? before;

    /// <summary>The lives of the program when it is started again.</summary>
    public SimLifeHost Again() => new(simulation, name, seeds, without, tap, Node);

    public INode Begin(Action<INode> attach)
    {
        _own = Node is null ? simulation.AddNode(name, without) : Node.Restart();
        attach(tap is null ? _own.Node : tap(_own.Node));
        return _own.Node;
    }

    public OracleOptions MembershipOptions(IdaNodeOptions options) => options.Membership with { Seeds = seeds, Tag = options.Tag, CanJoin = options.CanJoin };

    // Ends it between two steps, since the caller may be inside this node's turn. A program ends its own life only, never that of the program started after it.
    public ValueTask EndAsync()
    {
        var ended = new TaskCompletionSource();
        simulation.After(TimeSpan.Zero, () =>
        {
            _own?.Stop();
            ended.SetResult();
        });
        return new(ended.Task);
    }

    public Task WithinAsync(Task call, TimeSpan limit) => call.WaitAsync(limit, simulation.TimeProvider);
}
