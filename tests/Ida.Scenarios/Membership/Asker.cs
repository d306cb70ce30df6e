using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Testing;
using Oracle;
using Oracle.Frames;

namespace Ida.Scenarios;

/// <summary>Listens at a seed's address, asks all the time, answers that it does not know, says that it is about to found, and never does.</summary>
internal sealed class Asker : ITimerTarget
{
    private readonly SimNode _node;
    private readonly IReadOnlyList<NodeAddress> _all;
    private readonly FrameSender _sender;

    public Asker(SimNode node, IReadOnlyList<NodeAddress> all)
    {
        (_node, _all, _sender) = (node, all, new(node.Node));
        node.Post(() => OnTimer(0));
    }

    public void OnTimer(long token)
    {
        foreach (var one in _all) _sender.Reply(_node.Node.Links.Open(one), token % 2 == 0 ? new WhoIsOracle(true) : new OracleIs(Oracle.Raft.Configuration.Empty, new(_node.Id, _node.Address)));
        _node.Node.SetTimer(_node.Node.Now + (100 * Durations.Millisecond), this, token + 1);
    }
}
