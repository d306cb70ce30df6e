using System.Security.Cryptography.X509Certificates;

namespace GroupCore.Transport.Credentials;

/// <summary>
/// What a node shows and which nodes it accepts. A node's certificate is for both ends of a connection (extended key usage: none, or client and server authentication) and names the node as one URI
/// among its alternative names, <c>urn:ida:CLUSTER:NAME</c>. A certificate that names another cluster is not accepted. Each node has a name of its own; it keeps it when its certificate is renewed.
/// </summary>
/// <remarks>
/// All functions are called at each handshake, on the thread that shakes hands: while one of them waits, no connection is made. Nodes that share the options may call them at the same time, and so may two lives of a node, one of which ends. What they throw
/// fails the handshake and goes to the log.
/// </remarks>
public sealed record CertificateOptions
{
    /// <summary>The node's certificate with its private key.</summary>
    public required Func<X509Certificate2> Own { get; init; }

    /// <summary>The certificates between the node's own and its authority, which it shows as well; null if there are none.</summary>
    public Func<X509Certificate2Collection>? Between { get; init; }

    /// <summary>The authorities: a certificate is accepted if one of them issued it, directly or not. No other authority counts, also none of the system's. Null if <see cref="Allowed"/> is given.</summary>
    public Func<X509Certificate2Collection>? Authorities { get; init; }

    /// <summary>
    /// The certificates that are accepted, whoever issued them: SHA-256 of each one's public key (SubjectPublicKeyInfo) as 64 hexadecimal digits. Null if
    /// <see cref="Authorities"/> is given. If both are given a certificate needs both. With a list alone a node's identity is the digest of its key and not the name in its
    /// certificate, which it may have signed itself: a renewed certificate then keeps the key.
    /// </summary>
    public Func<IReadOnlyCollection<string>>? Allowed { get; init; }

    /// <summary>Why what the functions gave is not the newest; null if it is.</summary>
    internal Func<string?>? Trouble { get; init; }

    internal void Validate()
    {
        if (Own is null) throw new CredentialsException("Own is null; it must give the node's certificate.");
        if (Authorities is null && Allowed is null) throw new CredentialsException("Neither Authorities nor Allowed is given; one of them must say which certificates are accepted.");
    }
}
