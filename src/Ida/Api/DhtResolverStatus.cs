using GroupCore.Membership;

namespace Ida;

/// <summary>A resolver of a map that this member declares.</summary>
/// <param name="Incoming">The type that it merges, as text.</param>
/// <param name="LackedBy">A member with a slot that does not declare the resolver, or its map; there may be more. Null when all declare it.</param>
public sealed record DhtResolverStatus(string Incoming, ProcessId? LackedBy)
{
    /// <summary>Whether all members with a slot declare it, so that it can be used.</summary>
    public bool IsAgreed => LackedBy is null;
}
