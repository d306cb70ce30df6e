namespace Ida.Testing;

/// <summary>A node of a <see cref="SimCluster"/>, and the simulated host it lives on.</summary>
public sealed class SimMember
{
    private readonly SimLifeHost _host;

    internal SimMember(SimLifeHost host) => _host = host;

    /// <summary>The node, to work with as in production.</summary>
    public IdaNode Node { get; internal set; } = null!;

    internal SimLifeHost Lives => _host;

    /// <summary>Its present life in the simulator: to crash, pause or slow it, and to name it to the network.</summary>
    public SimNode Host => _host.Node!;

    /// <summary>The name of its life.</summary>
    public override string ToString() => _host.Node?.Name ?? "-";
}
