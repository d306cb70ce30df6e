using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport.Credentials;
using Ida.Nodes;
using Oracle;

namespace Ida.Scenarios;

/// <summary>
/// Lives of a node on a loop thread with sockets, as in production, but open to the test: the loop itself, which says whether a turn threw,
/// and <paramref name="between"/>, which may stand between the node and its protocols.
/// </summary>
internal sealed class OpenLoopHost(NodeLoopOptions loop, string[] seeds, Func<INode, INode>? between = null) : ILifeHost
{
    public NodeLoop Loop { get; private set; } = null!;

    public NodeCredentials? Credentials => loop.Credentials;

    public INode Begin(Action<INode> attach)
    {
        Loop = NodeLoop.Start(loop, node => attach(between is null ? node : between(node)));
        return Loop.Node;
    }

    public OracleOptions MembershipOptions(IdaNodeOptions options) =>
        options.Membership with { Seeds = [.. seeds.Select(seed => new GroupCore.Transport.NodeAddress(seed))], Tag = options.Tag, RefusalsProve = loop.Credentials is null };

    public async ValueTask EndAsync() => await Loop.StopAsync();
}
