using System.Security.Cryptography.X509Certificates;
using GroupCore.Basics;

namespace GroupCore.Transport.Credentials;

/// <summary>
/// How the nodes of a cluster know each other, and what protects their bytes on the way. All nodes of a cluster have the same kind. Beyond the loopback every connection is TLS 1.3, in which
/// both ends show a certificate; each end then knows that the other one belongs to the cluster either by a <b>cluster key</b> that all nodes share, or by the <b>certificates</b> themselves.
/// </summary>
/// <remarks>
/// A key or certificate is asked for at each handshake, so it is replaced without a restart. To replace a cluster key: give all nodes the old key and the new one, then the new one and the old
/// one, then the new one alone. Connections that stand are not asked again. Source: links.md#credentials.
/// </remarks>
public abstract class Security
{
    private protected Security()
    {
    }

    /// <summary>No credentials: nodes listen on the loopback only, and take each other for what they say they are. The default.</summary>
    public static Security Loopback { get; } = new LoopbackSecurity();

    /// <summary>A new random cluster key, 32 bytes in base64.</summary>
    public static string NewClusterKey() => Convert.ToBase64String(Entropy.Bytes(KeyProof.KeyBytes));

    /// <summary>All nodes that have the key belong to the cluster.</summary>
    /// <param name="key">32 bytes in base64 or as 64 hexadecimal digits (<see cref="NewClusterKey"/>).</param>
    /// <param name="other">A second key that is valid too, while one is replaced by the other.</param>
    /// <exception cref="CredentialsException">No key of 32 bytes, as for every method here. The message says what is wrong and never shows a key.</exception>
    public static Security ClusterKey(string key, string? other = null)
    {
        var keys = ClusterKeys.Parse(other is null ? [key] : [key, other], "The cluster key");
        return new ClusterKeySecurity(() => keys, static () => null);
    }

    /// <summary>The key, or two, in a file: each 32 bytes in base64 or as 64 hexadecimal digits, one on a line. The file is read at each handshake; one that cannot be read, or has no key, changes nothing, and the log says so.</summary>
    /// <param name="path">The file, which only the node's user should be able to read.</param>
    public static Security ClusterKeyFile(string path)
    {
        var file = new ChangingFile<ClusterKeys>([path], static files => ClusterKeys.Read(files[0], "The file of the cluster key"));
        return new ClusterKeySecurity(file.Read, () => file.Trouble);
    }

    /// <summary>The key, or two separated by a comma, in an environment variable.</summary>
    public static Security ClusterKeyVariable(string name)
    {
        string text = Environment.GetEnvironmentVariable(name) ?? throw new CredentialsException($"The environment variable {name} of the cluster key is not set.");
        var keys = ClusterKeys.Read(text, $"The environment variable {name} of the cluster key");
        return new ClusterKeySecurity(() => keys, static () => null);
    }

    /// <summary>Nodes have certificates: see <see cref="CertificateOptions"/>.</summary>
    public static Security Certificates(CertificateOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        return new CertificateSecurity(options);
    }

    /// <summary>Nodes have certificates, in PEM files that are read at each handshake; files that cannot be read change nothing, and the log says so.</summary>
    /// <param name="certificate">The node's certificate, and behind it those between it and the authority, if there are any.</param>
    /// <param name="key">The private key of the node's certificate.</param>
    /// <param name="authorities">The certificates of the authorities, one of which must have issued each node's certificate.</param>
    public static Security CertificateFiles(string certificate, string key, string authorities)
    {
        var own = new ChangingFile<OwnCertificate>([certificate, key], static files => OwnCertificate.Read(files[0], files[1]));
        var issuers = new ChangingFile<X509Certificate2Collection>([authorities], static files => PemFiles.All(files[0], "certificates of the authorities"));
        return Certificates(new() { Own = () => own.Read().Certificate, Between = () => own.Read().Between, Authorities = issuers.Read, Trouble = () => own.Trouble ?? issuers.Trouble });
    }

    /// <summary>What one node of this cluster shows and accepts; null without credentials.</summary>
    internal abstract NodeCredentials? Open(string cluster);
}
