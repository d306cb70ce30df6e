using GroupCore.Transport.Credentials;

namespace Ida.Scenarios;

/// <summary>Under which id a stranger comes, and with which credentials: the start and their identity make the id.</summary>
internal sealed record HostileName(ulong Id, ulong Start, NodeCredentials? Credentials)
{
    /// <summary>A node that nobody knows.</summary>
    public static HostileName New(ulong start, NodeCredentials? credentials) => new(credentials?.Identity.IdOf(start) ?? start | 1, credentials is null ? 0 : start, credentials);

    /// <summary>What its connections go through; null if they go to the nodes directly.</summary>
    public TlsTunnel? Tunnel(string cluster) => Credentials is null ? null : new(Credentials, cluster);
}
