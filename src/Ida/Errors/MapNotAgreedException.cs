using GroupCore.Membership;

namespace Ida;

/// <summary>
/// The call uses a map, or a resolver of it, that this member declares and another member of the DHT does not: nothing was executed. It can be used from the view on in which all members
/// declare it.
/// </summary>
/// <param name="map">The map.</param>
/// <param name="resolver">The type that the missing resolver merges; null where the map itself is missing.</param>
/// <param name="member">A member that lacks it.</param>
public sealed class MapNotAgreedException(string map, string? resolver, ProcessId member)
    : DhtException($"The member {member} of the DHT does not declare {(resolver is null ? $"the map \"{map}\"" : $"the resolver for {resolver} of the map \"{map}\"")}. It can be used when all members declare it. Nothing was executed.")
{
    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>The type that the missing resolver merges, as text; null where the map itself is missing.</summary>
    public string? Resolver { get; } = resolver;

    /// <summary>A member that lacks it; there may be more.</summary>
    public ProcessId Member { get; } = member;
}
