using GroupCore.Basics;
using GroupCore.Groups;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Wire;
using Microsoft.Extensions.Logging;
using Oracle;

namespace Ida;

/// <summary>Options of a node; checked by <see cref="IdaNode.StartAsync"/>, which throws an <see cref="ArgumentException"/> that names the wrong option.</summary>
public sealed record IdaNodeOptions
{
    /// <summary>Name of the cluster: 1–64 characters. Nodes of another cluster are refused at the first frame.</summary>
    public string Cluster { get; init; } = "";

    /// <summary>
    /// Where to look for the cluster, <c>host:port</c> each, the same list at every process. A host is an address, or a name that stands for one or several: names are looked up
    /// again as long as the node looks for its cluster, or for a seed that is gone. <c>multicast</c> stands for the processes of the cluster on the local network. The first seed that is up founds the cluster when there is none yet. Empty: this node founds a
    /// cluster of its own.
    /// </summary>
    public IReadOnlyList<string> Seeds { get; init; } = [];

    /// <summary>
    /// Where to listen, <c>host:port</c>. Default: the first address of <see cref="Seeds"/> that is on this machine and free,
    /// else a port of the system's choice, on the loopback or, with credentials, at the address from which the first seed is reached. An address beyond the loopback needs
    /// <see cref="Security"/>. <c>0.0.0.0</c> or <c>[::]</c>, all addresses of this machine: the others are told the one that is among the seeds, or from which the first seed is
    /// reached, unless <see cref="Advertise"/> names another.
    /// </summary>
    public string? Listen { get; init; }

    /// <summary>
    /// Where other nodes reach this node, <c>host:port</c>, when that is not where it listens: behind a proxy, or a port that a container maps. A name is looked up once, at the start.
    /// It is the address to put among the <see cref="Seeds"/>. Default: where it listens.
    /// </summary>
    public string? Advertise { get; init; }

    /// <summary>
    /// How the nodes of the cluster know each other, and what protects their bytes on the way: the same kind at all nodes. Default <see cref="Security.Loopback"/>, which
    /// allows addresses of the loopback only.
    /// </summary>
    public Security Security { get; init; } = Security.Loopback;

    /// <summary>
    /// Says which identity may join the group of which name, a group that does not exist yet included: the DHTs of that group are meant too. The leader of the Oracle asks its own function, so all
    /// nodes should have the same; it needs <see cref="Security"/>, and certificates, since with a cluster key a node has another identity at each start. Called outside of the loop and by 16
    /// callers at once at most; it may block, and where it throws or takes longer than 5 s the join is refused (<see cref="JoinRefusedException"/>). Who is a member stays one. Default: all may.
    /// </summary>
    public Func<NodeIdentity, string, bool>? CanJoin { get; init; }

    /// <summary>Short text that travels with this node into every view (host, zone, role); at most 64 bytes of UTF-8. Default none.</summary>
    public string Tag { get; init; } = "";

    /// <summary>How long <see cref="IdaNode.StartAsync"/> looks for the cluster before it throws <see cref="ClusterUnreachableException"/>. Default 15 s; <see cref="Timeout.InfiniteTimeSpan"/> looks for ever.</summary>
    public TimeSpan StartTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// What to do after the node was excluded. Default <see cref="ExclusionPolicy.Stop"/>. <see cref="ExclusionPolicy.Rejoin"/> gives up when, for the
    /// third time in a row, a life ends within a minute of its beginning and before the cluster has registered it.
    /// </summary>
    public ExclusionPolicy OnExcluded { get; init; } = ExclusionPolicy.Stop;

    /// <summary>
    /// What to do after a fault (the protocols, or user code that they called, threw) that ended the node, or came on the way out of an excluded life that a new one was to follow.
    /// Default <see cref="ExclusionPolicy.Stop"/>. <see cref="ExclusionPolicy.Rejoin"/> gives up at the third fault in a row that comes within a minute of a life's beginning.
    /// </summary>
    public ExclusionPolicy OnFault { get; init; } = ExclusionPolicy.Stop;

    /// <summary>
    /// Under <see cref="ExclusionPolicy.Rejoin"/>: called at the start of every new life, to join the groups again. An exception from it ends the
    /// node. Its token is cancelled when that life or the node ends. It then has to return: the next life begins when it has returned, or 5 s later,
    /// with a call of its own; an exception that the old call throws by then is ignored.
    /// </summary>
    public Func<IdaNode, CancellationToken, Task>? OnRejoined { get; init; }

    /// <summary>How long the loop looks for work before it sleeps; 0 turns spinning off. Default 50 µs.</summary>
    public TimeSpan Spin { get; init; } = TimeSpan.FromMicroseconds(50);

    /// <summary>
    /// Bytes that may be on the way to all other nodes together. At the limit, messages of groups and state wait, and calls of a DHT get
    /// <see cref="OverloadedException"/>. Calls that wait in groups count too: while both together are at the limit, a call in a group in which
    /// more than 1 MiB waits gets <see cref="SendQueueFullException"/>; 16 MiB to 1 TiB, default 256 MiB.
    /// </summary>
    public long MaxQueuedBytes { get; init; } = LinkLimits.NodeBytes;

    /// <summary>
    /// Makes the loggers that are told what happens, <c>Ida.GroupCore</c>, <c>Ida.Oracle</c> and <c>Ida</c>: views, exclusions, links, queues that are full, slow handlers, and
    /// the like; docs/guide/operations.md lists the events. Loggers may block and throw: they are called by one work item of the thread pool at a time, a moment
    /// after the event, and when 1,024 lines wait, further ones are dropped and counted. Default none.
    /// </summary>
    public ILoggerFactory? LoggerFactory { get; init; }

    /// <summary>How users' messages become bytes; default MessagePack.</summary>
    public IPayloadSerializer? Serializer { get; init; }

    /// <summary>Timing and size of the membership service; defaults suit one data centre. The node fills in the seeds and what identifies the process.</summary>
    public OracleOptions Membership { get; init; } = new();

    /// <summary>Bounds of the groups of this node, and of the DHTs in them. The node fills in serializer and tag.</summary>
    public GroupHostOptions Groups { get; init; } = new();

    internal void Validate()
    {
        ThrowIfNull(Cluster, nameof(Cluster));
        ThrowIfNull(Seeds, nameof(Seeds));
        ThrowIfNull(Tag, nameof(Tag));
        ThrowIfNull(Security, nameof(Security));
        ThrowIfNull(Membership, nameof(Membership));
        ThrowIfNull(Groups, nameof(Groups));
        if (!Utf8Text.IsKept(Cluster)) throw new InvalidOptionException($"Cluster is '{Utf8Text.AsGot(Cluster)}', with an unpaired surrogate: other nodes would read another name.");
        if (Cluster.Length is < 1 or > 64) throw new InvalidOptionException($"Cluster is '{Cluster}'; allowed is a name of 1 to 64 characters.");
        if (CanJoin is not null && ReferenceEquals(Security, Security.Loopback)) throw new InvalidOptionException("CanJoin is set and Security is Loopback, by which nobody has an identity; give credentials too.");
        foreach (string seed in Seeds)
            if (seed != SeedText.Lan) ThrowIfNoPlace(seed, nameof(Seeds), SeedText.Allowed);
        if (Listen is not null) EndPointText.Parse(Listen, nameof(Listen));
        if (Advertise is not null) ThrowIfNoPlace(Advertise, nameof(Advertise), HostAndPort.Allowed);
        (Membership with { Tag = Tag }).Validate();
        if (!TimeLimit.IsAllowed(StartTimeout)) throw new InvalidOptionException($"StartTimeout is {StartTimeout}; it must be above 0, or Timeout.InfiniteTimeSpan for none.");
        GroupHostOptions.Validate(Groups);
        // With the layer of the DHT.
        GroupHostOptions.Validate(ForGroups());
        if (MaxQueuedBytes is < 16L << 20 or > 1L << 40) throw new InvalidOptionException($"MaxQueuedBytes is {MaxQueuedBytes}; allowed are {16L << 20} to {1L << 40}.");
        if (!Enum.IsDefined(OnExcluded)) throw new InvalidOptionException($"OnExcluded is {OnExcluded}, which names no policy.");
        if (!Enum.IsDefined(OnFault)) throw new InvalidOptionException($"OnFault is {OnFault}, which names no policy.");
        if (OnRejoined is not null && OnExcluded != ExclusionPolicy.Rejoin && OnFault != ExclusionPolicy.Rejoin)
            throw new InvalidOptionException($"OnRejoined is set but OnExcluded is {OnExcluded} and OnFault is {OnFault}; it is called under Rejoin only.");
    }

    // Something that others can dial.
    private static void ThrowIfNoPlace(string text, string name, string allowed)
    {
        if (HostAndPort.TryParseReachable(text, out _)) return;
        throw new ArgumentException(HostAndPort.TryParse(text, out _) ? $"Nobody can reach '{text}': give the address and the port that others use." : $"'{text}' is no place of a node: {allowed}.", name);
    }

    private static void ThrowIfNull(object? value, string name)
    {
        if (value is null) throw new InvalidOptionException($"{name} is null; it may be left out instead.");
    }

    internal GroupHostOptions ForGroups() => Groups with { Serializer = Serializer ?? ContractSerializer.Instance, Tag = Tag, Layers = [DhtFrame.Layer, .. Groups.Layers] };
}
