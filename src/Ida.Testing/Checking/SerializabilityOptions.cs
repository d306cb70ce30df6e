namespace Ida.Testing.Checking;

/// <summary>What <see cref="StrictSerializabilityChecker"/> demands.</summary>
public sealed record SerializabilityOptions
{
    /// <summary>Whether strict operations must keep real-time order; false checks serializability alone, as level Ordered promises. Default true.</summary>
    public bool RealTime { get; init; } = true;

    /// <summary>
    /// Whether replicas hold disjoint sets of keys, as the shards of one DHT do. If so, two replicas with a key in common must have all keys in common. Default true.
    /// </summary>
    public bool DisjointReplicaSets { get; init; } = true;

    /// <summary>Findings reported of each kind; more are only counted. Default 10.</summary>
    public int MostPerKind { get; init; } = 10;
}
