using GroupCore.Diagnostics;
using GroupCore.Hosting;
using GroupCore.Platform;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using Oracle;

namespace Ida.Nodes;

/// <summary>Lives on a loop with TCP links. The first life finds the address to listen at, later ones keep it. Throws <see cref="CredentialsException"/>.</summary>
internal sealed class LoopLifeHost(IdaNodeOptions options, SocketPortKind port = SocketPortKind.Auto) : ILifeHost
{
    // Once for all lives, and before the first: it calls the user's functions.
    private readonly NodeCredentials? _credentials = options.Security.Open(options.Cluster);
    private readonly SystemNames _names = new();
    private NodeLoop? _loop;
    private LanMulticast? _lan;
    private StartPlace _place = new([], null);
    private string? _listen;

    public NodeFaultedException? Fault => _loop?.Fault is { } fault ? new(fault) : null;

    public bool IsMeasured => true;

    public async ValueTask<TimeSpan> PrepareAsync(CancellationToken cancellationToken)
    {
        long began = HostClock.Now();
        if (options.Seeds.Count > 0 && options.Seeds.All(static seed => seed == SeedText.Lan) && !new LanMulticast(options.Cluster, ofMachine: _credentials is null).IsPossible())
            throw new ClusterUnreachableException("The only seed is the local network, and no interface of this machine takes part in multicast. Name the seeds instead, or start again when the network is there.");
        _place = await StartPlace.FindAsync(options, _credentials is not null, _names, cancellationToken).ConfigureAwait(false);
        return TimeSpan.FromTicks((HostClock.Now() - began) / 100);
    }

    public INode Begin(Action<INode> attach)
    {
        _loop = _listen is { } listen ? Listen(listen, attach) : ListenAtFirstFree(attach);
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
        Names = _names,
        Cluster = options.Cluster,
        LocalNetwork = _lan = new LanMulticast(options.Cluster, ofMachine: _credentials is null),
        CanJoin = options.CanJoin,
        RefusalsProve = _credentials is null,
    };

    public async ValueTask EndAsync()
    {
        if (_loop is { } loop) await loop.StopAsync().ConfigureAwait(false);
    }

    /// <summary>Listens at the first seed that is a free address of this machine, so the first processes of a cluster need no other setting.</summary>
    private NodeLoop ListenAtFirstFree(Action<INode> attach)
    {
        foreach (string place in _place.Listen.SkipLast(1))
        {
            try
            {
                return Listen(place, attach);
            }
            catch (Exception error) when (error is AddressInUseException or InsecureBindException or IOException)
            {
                // Taken by another process, or an address of another machine: try the next seed.
            }
        }
        return Listen(_place.Listen[^1], attach);
    }

    private NodeLoop Listen(string address, Action<INode> attach)
    {
        try
        {
            return NodeLoop.Start(new() { Cluster = options.Cluster, Listen = address, Advertise = _place.Advertise, Spin = options.Spin, Port = port, Credentials = _credentials, MostQueuedBytes = options.MaxQueuedBytes }, attach);
        }
        catch
        {
            // A loop that was not started tells nobody of its end.
            _lan?.Close();
            throw;
        }
    }
}
