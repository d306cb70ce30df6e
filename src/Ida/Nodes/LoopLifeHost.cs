using System.Net;
using System.Net.Sockets;
using GroupCore.Diagnostics;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using Oracle;

namespace Ida.Nodes;

/// <summary>Lives on a loop with TCP links. The first life finds the address to listen at, later ones keep it. Throws <see cref="CredentialsException"/>.</summary>
internal sealed class LoopLifeHost(IdaNodeOptions options, SocketPortKind port = SocketPortKind.Auto) : ILifeHost
{
    private const string AnyLocalPort = "127.0.0.1:0";
    // Once for all lives, and before the first: it calls the user's functions.
    private readonly NodeCredentials? _credentials = options.Security.Open(options.Cluster);
    private NodeLoop? _loop;
    private string? _listen = options.Listen;

    public NodeFaultedException? Fault => _loop?.Fault is { } fault ? new(fault) : null;

    public bool IsMeasured => true;

    public INode Begin(Action<INode> attach)
    {
        _loop = _listen is { } listen ? Listen(listen, attach) : ListenAtFreeSeed(attach) ?? Listen(AnyPort(), attach);
        _listen = _loop.Bound.Text;
        _loop.Node.Log.Listening(_listen, _loop.Accepts);
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
        CanJoin = options.CanJoin,
        RefusalsProve = _credentials is null,
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

    // With credentials, the address of this machine from which the first seed is reached: it is one at which the others reach this machine, unless something translates addresses between them.
    private string AnyPort()
    {
        if (_credentials is null || options.Seeds.Count == 0) return AnyLocalPort;
        var seed = EndPointText.Parse(options.Seeds[0], nameof(options.Seeds));
        if (IPAddress.IsLoopback(seed.Address)) return AnyLocalPort;
        try
        {
            using var socket = new Socket(seed.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
            // No byte is sent: the system only chooses the way.
            socket.Connect(seed);
            return new IPEndPoint(((IPEndPoint)socket.LocalEndPoint!).Address, 0).ToString();
        }
        catch (SocketException error)
        {
            throw new ClusterUnreachableException($"There is no way from this machine to the first seed, {seed}: {error.Message}. Give Listen, or start again when the network is there.");
        }
    }

    private NodeLoop Listen(string address, Action<INode> attach) =>
        NodeLoop.Start(new() { Cluster = options.Cluster, Listen = address, Advertise = options.Advertise, Spin = options.Spin, Port = port, Credentials = _credentials, MostQueuedBytes = options.MaxQueuedBytes }, attach);
}
