using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace GroupCore.Transport.Credentials;

/// <summary>What one node shows to others, and how it judges what they show. Used by the thread that shakes hands.</summary>
internal abstract class NodeCredentials
{
    /// <summary>Who this node is, for its whole life.</summary>
    public abstract NodeIdentity Identity { get; }

    /// <summary>One line for the log of the start: which nodes are accepted.</summary>
    public abstract string Accepts { get; }

    /// <summary>The cluster keys that are valid now; null if the certificate alone says who belongs to the cluster.</summary>
    public virtual ClusterKeys? Keys => null;

    /// <summary>Most bytes that may arrive in a handshake, what follows it at once included: with a long chain of certificates a flight has some 10 KiB.</summary>
    public virtual int MostHandshakeBytes => 32 << 10;

    /// <summary>The certificate to show now, with those between it and its authority.</summary>
    public abstract SslStreamCertificateContext Own();

    /// <summary>How a chain from the other end's certificate is built.</summary>
    public abstract X509ChainPolicy Chain();

    /// <summary>
    /// What went wrong with this node's own credentials since it was last asked: a file that cannot be read, a renewed certificate that cannot be used. What was valid before is used on. Null if
    /// nothing did.
    /// </summary>
    public virtual string? TakeTrouble() => null;

    /// <summary>Who shows this certificate; null if it is not accepted, and then why.</summary>
    public abstract NodeIdentity? Identify(X509Certificate2 certificate, SslPolicyErrors errors, out string why);
}
