using GroupCore.Runtime;
using GroupCore.Transport;

namespace Ida.Testing;

/// <summary>
/// A cluster of whole Ida nodes (Oracle, groups, DHT) inside one <see cref="Simulation"/>: the code of production, virtual time, a seed.
/// </summary>
/// <remarks>
/// Use it from asynchronous code that <see cref="Testing.Simulation.RunAsync(Func{Task}, TimeSpan)"/> runs: start nodes, join groups, put and
/// get as in production, and crash, pause or cut off members in between.
/// </remarks>
public sealed class SimCluster
{
    /// <summary>How many of the first nodes are the seeds of all.</summary>
    internal const int Seeds = 3;

    private readonly List<SimMember> _members = [];
    private readonly List<NodeAddress> _seeds = [];

    /// <summary>A cluster without nodes on a simulation without nodes. Its first three nodes are everybody's seeds.</summary>
    public SimCluster(Simulation simulation)
    {
        ArgumentNullException.ThrowIfNull(simulation);
        if (simulation.Nodes.Count > 0) throw new ArgumentException("The simulation has nodes already.", nameof(simulation));
        Simulation = simulation;
        for (int i = 0; i < Seeds; i++) _seeds.Add(Simulation.AddressOf(i, simulation.Options.Carrier));
    }

    /// <summary>The simulation, for time, faults and the network.</summary>
    public Simulation Simulation { get; }

    /// <summary>All nodes that were started, in that order.</summary>
    public IReadOnlyList<SimMember> Members => _members;

    /// <summary>Starts a node and waits until the cluster has registered it. Seeds, cluster name and listen address are filled in.</summary>
    public ValueTask<SimMember> StartAsync(IdaNodeOptions? options = null) => StartAsync(options, without: null);

    /// <summary>The same; <paramref name="tap"/> makes what the protocols of each of its lives see as their node.</summary>
    internal async ValueTask<SimMember> StartAsync(IdaNodeOptions? options, string? without, Func<INode, INode>? tap = null, CancellationToken cancel = default)
    {
        var host = new SimLifeHost(Simulation, null, _seeds, without, tap);
        var member = new SimMember(host);
        _members.Add(member);
        member.Node = await IdaNode.HostAsync((options ?? new()) with { Cluster = "sim" }, host, cancel);
        return member;
    }

    /// <summary>Starts again the program of a member that has crashed or ended, at the same address.</summary>
    internal static async Task RestartAsync(SimMember member, IdaNodeOptions options, CancellationToken cancel = default)
    {
        member.Lives = member.Lives.Again();
        member.Node = await IdaNode.HostAsync(options with { Cluster = "sim" }, member.Lives, cancel);
    }
}
