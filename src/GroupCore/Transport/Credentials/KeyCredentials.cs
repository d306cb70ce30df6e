using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace GroupCore.Transport.Credentials;

/// <summary>
/// A key pair that the node makes when it starts, in a certificate that it signs itself. Any certificate is accepted at first: both ends then prove the cluster key (<see cref="KeyProof"/>).
/// </summary>
internal sealed class KeyCredentials : NodeCredentials
{
    private readonly Func<ClusterKeys> _keys;
    private readonly Func<string?> _trouble;
    private readonly SslStreamCertificateContext _own;

    /// <param name="cluster">The cluster's name.</param>
    /// <param name="keys">The keys that are valid now.</param>
    /// <param name="trouble">Why these are not the newest; null if they are.</param>
    public KeyCredentials(string cluster, Func<ClusterKeys> keys, Func<string?> trouble)
    {
        (_keys, _trouble) = (keys, trouble);
        // A key that cannot be read ends the start, and not the first handshake.
        keys();
        using var pair = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=ida", pair, HashAlgorithmName.SHA256);
        var certificate = request.CreateSelfSigned(DateTimeOffset.UnixEpoch, new(9999, 12, 31, 23, 59, 59, TimeSpan.Zero));
        // Windows uses no key that is in memory only.
        if (OperatingSystem.IsWindows()) certificate = X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), null);
        _own = SslStreamCertificateContext.Create(certificate, null, offline: true);
        Identity = CertificateNames.ByKey(certificate);
        Accepts = $"nodes of cluster '{cluster}' that prove its key";
    }

    /// <inheritdoc/>
    public override NodeIdentity Identity { get; }

    /// <inheritdoc/>
    public override string Accepts { get; }

    /// <inheritdoc/>
    public override ClusterKeys Keys => _keys();

    /// <summary>Flights of nodes of this kind have some 2 KiB. A stranger's chain of large certificates, each of which would be verified, does not fit.</summary>
    public override int MostHandshakeBytes => 8 << 10;

    /// <inheritdoc/>
    public override SslStreamCertificateContext Own() => _own;

    /// <inheritdoc/>
    public override X509ChainPolicy Chain() => Chains.Of([]);

    /// <inheritdoc/>
    public override string? TakeTrouble() => _trouble();

    /// <inheritdoc/>
    public override NodeIdentity Identify(X509Certificate2 certificate, SslPolicyErrors errors, out string why)
    {
        why = "";
        return CertificateNames.ByKey(certificate);
    }
}
