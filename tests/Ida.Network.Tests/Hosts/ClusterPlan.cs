using GroupCore.Transport.Credentials;

namespace Ida.Network.Tests.Hosts;

/// <summary>What the processes of a cluster are told.</summary>
internal sealed record ClusterPlan
{
    /// <summary>Its name.</summary>
    public string Name { get; init; } = "hosts";

    public string Key { get; init; } = Security.NewClusterKey();

    public int Port { get; init; } = 7700;

    /// <summary>The machines that its processes run on.</summary>
    public IReadOnlyList<int> Machines { get; init; } = [1, 2, 3, 4, 5];

    /// <summary>The machines whose processes are asked for the cluster.</summary>
    public IReadOnlyList<int> Seeds { get; init; } = [1, 2, 3];

    /// <summary>What they are asked for instead of those: a name and its port, or the local network.</summary>
    public string? SeedText { get; init; }

    /// <summary>Whether its addresses are of IP version 6.</summary>
    public bool V6 { get; init; }

    public ExclusionPolicy Policy { get; init; } = ExclusionPolicy.Rejoin;

    public int OracleSize { get; init; } = 5;

    /// <summary>With two shards of two, a member is left over; a cut must leave each shard a member.</summary>
    public int ShardSize { get; init; } = 2;

    public int TargetSize { get; init; } = 4;

    public TimeSpan StartTimeout { get; init; } = TimeSpan.FromSeconds(60);
}
