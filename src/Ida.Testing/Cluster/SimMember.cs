namespace Ida.Testing;

/// <summary>A node of a <see cref="SimCluster"/>, and the simulated host it lives on.</summary>
public sealed class SimMember
{
    internal SimMember(SimLifeHost host) => Lives = host;

    /// <summary>The node, to work with as in production.</summary>
    public IdaNode Node { get; internal set; } = null!;

    internal SimLifeHost Lives { get; set; }

    /// <summary>Its current life in the simulator: to crash, pause or slow it, and to name it to the network.</summary>
    public SimNode Host => Lives.Node!;

    /// <summary>The name of its life.</summary>
    public override string ToString() => Lives.Node?.Name ?? "-";
}
