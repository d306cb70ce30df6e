using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Nodes;
using Oracle;

namespace Ida.Testing;

/// <summary>Lives of a node in the simulator: each is a life of the same simulated host.</summary>
internal sealed class SimLifeHost(Simulation simulation, string? name, IReadOnlyList<NodeAddress> seeds, Rule without, Func<INode, INode>? tap = null) : ILifeHost
{
    /// <summary>The latest life.</summary>
    public SimNode? Node { get; private set; }

    public INode Begin(Action<INode> attach)
    {
        Node = Node is null ? simulation.AddNode(name, without) : Node.Restart();
        attach(tap is null ? Node.Node : tap(Node.Node));
        return Node.Node;
    }

    public OracleOptions MembershipOptions(IdaNodeOptions options) => options.Membership with { Seeds = seeds, Tag = options.Tag };

    // Between two steps, since the one that asks may be inside of this node's turn.
    public ValueTask EndAsync()
    {
        var ended = new TaskCompletionSource();
        simulation.After(TimeSpan.Zero, () =>
        {
            Node?.Stop();
            ended.SetResult();
        });
        return new(ended.Task);
    }

    public Task WithinAsync(Task call, TimeSpan limit) => call.WaitAsync(limit, simulation.TimeProvider);
}
