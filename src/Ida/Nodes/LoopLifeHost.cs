using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle;

namespace Ida.Nodes;

/// <summary>Lives on a loop with TCP links. The first life finds the address to listen at, later ones keep it.</summary>
internal sealed class LoopLifeHost(IdaNodeOptions options, SocketPortKind port = SocketPortKind.Auto) : ILifeHost
{
    private const string AnyLocalPort = "127.0.0.1:0";
    private NodeLoop? _loop;
    private string? _listen = options.Listen;

    public NodeFaultedException? Fault => _loop?.Fault is { } fault ? new(fault) : null;

    public bool IsMeasured => true;

    public INode Begin(Action<INode> attach)
    {
        _loop = _listen is { } listen ? Listen(listen, attach) : ListenAtFreeSeed(attach) ?? Listen(AnyLocalPort, attach);
        _listen = _loop.Bound.Text;
        return _loop.Node;
    }

    public OracleOptions MembershipOptions(IdaNodeOptions options) => options.Membership with
    {
        Seeds = [.. options.Seeds.Select(seed => new NodeAddress(seed))],
        Tag = options.Tag,
        Host = ProcessTable.Host,
        ProcessNumber = Environment.ProcessId,
        ProcessStart = ProcessTable.OwnStart,
        ProcessProbe = new ProcessTable(),
        OwnsAddress = options.Advertise is null,
    };

    public async ValueTask EndAsync()
    {
        if (_loop is { } loop) await loop.StopAsync().ConfigureAwait(false);
    }

    /// <summary>Listens at the first seed that is a free address of this machine, so the first processes of a cluster need no other setting.</summary>
    private NodeLoop? ListenAtFreeSeed(Action<INode> attach)
    {
        foreach (string seed in options.Seeds)
        {
            try
            {
                return Listen(seed, attach);
            }
            catch (Exception error) when (error is AddressInUseException or InsecureBindException or IOException)
            {
                // Taken by another process, or an address of another machine: try the next seed.
            }
        }
        return null;
    }

    private NodeLoop Listen(string address, Action<INode> attach) =>
        NodeLoop.Start(new() { Cluster = options.Cluster, Listen = address, Advertise = options.Advertise, Spin = options.Spin, Port = port, MostQueuedBytes = options.MaxQueuedBytes }, attach);
}
