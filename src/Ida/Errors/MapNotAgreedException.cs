using GroupCore.Membership;

namespace Ida;

/// <summary>
/// The call uses a map, or a resolver of it, that this member declares and another member of the DHT does not. It can be used from the first view on in which all members
/// declare it. Nothing was executed. For a retry, this is the inner exception of an <see cref="OutcomeUnknownException"/>, and says nothing about the put that is repeated.
/// </summary>
public sealed class MapNotAgreedException : DhtRetryLaterException
{
    /// <summary>A member lacks what a call uses.</summary>
    /// <param name="map">The map.</param>
    /// <param name="resolver">The type that the missing resolver merges; null where the map itself is missing.</param>
    /// <param name="member">A member that lacks it.</param>
    /// <param name="isRetry">Whether the call repeats a put: then the error says nothing about that put.</param>
    public MapNotAgreedException(string map, string? resolver, ProcessId member, bool isRetry = false)
        : base($"The member {member} of the DHT does not declare {(resolver is null ? $"the map \"{map}\"" : $"the resolver for {resolver} of the map \"{map}\"")}. It can be used when all members declare it.{(isRetry ? "" : " Nothing was executed.")}") =>
        (Map, Resolver, Member, Peer) = (map, resolver, member, member);

    /// <summary>The map.</summary>
    public string Map { get; }

    /// <summary>The type that the missing resolver merges, as text; null where the map itself is missing.</summary>
    public string? Resolver { get; }

    /// <summary>A member that lacks it; there may be more.</summary>
    public ProcessId Member { get; }
}
