namespace GroupCore.Transport.Credentials;

/// <summary>Nodes are known by a key that they share.</summary>
/// <param name="keys">The keys that are valid now.</param>
/// <param name="trouble">Why these are not the newest; null if they are.</param>
internal sealed class ClusterKeySecurity(Func<ClusterKeys> keys, Func<string?> trouble) : Security
{
    internal override NodeCredentials Open(string cluster) => new KeyCredentials(cluster, keys, trouble);
}
