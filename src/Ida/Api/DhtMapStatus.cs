using GroupCore.Membership;

namespace Ida;

/// <summary>A map that this member declares.</summary>
/// <param name="Name">Its name.</param>
/// <param name="LackedBy">A member with a slot that does not declare the map; there may be more. Until all do, calls that use it get <see cref="MapNotAgreedException"/>. Null when all do.</param>
/// <param name="Resolvers">Its resolvers, in the order of the types that they merge.</param>
public sealed record DhtMapStatus(string Name, ProcessId? LackedBy, IReadOnlyList<DhtResolverStatus> Resolvers)
{
    /// <summary>Whether all members with a slot declare it, so that it can be used; a merge also needs its resolver.</summary>
    public bool IsAgreed => LackedBy is null;

    /// <summary>Entries of the map in this member's slice; during a transfer, those that have arrived.</summary>
    public long Entries { get; init; }

    /// <summary>Bytes of their keys and values, without the overhead of the slice.</summary>
    public long Bytes { get; init; }
}
