using System.Collections.Concurrent;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;

namespace Ida.Testing;

/// <summary>
/// The credentials of simulated nodes: each shows its address, and all sign with one key of the process. The bytes of a run differ from those of the next one, since TLS draws its own random numbers; their
/// number does not, as signatures of RSA are all of one length, so a seed takes the same steps again.
/// </summary>
internal sealed class SimCredentials : NodeCredentials
{
    private static readonly RSA s_key = RSA.Create(2048);
    private static readonly ConcurrentDictionary<NodeAddress, SimCredentials> s_all = [];
    private readonly SslStreamCertificateContext _own;

    private SimCredentials(NodeAddress address)
    {
        Identity = NameOf(address.Text);
        var request = new CertificateRequest($"CN={address.Text}", s_key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using var certificate = request.Create(request.SubjectName, X509SignatureGenerator.CreateForRSA(s_key, RSASignaturePadding.Pkcs1), DateTimeOffset.UnixEpoch, new(9999, 12, 31, 23, 59, 59, TimeSpan.Zero), [1]);
        _own = SslStreamCertificateContext.Create(certificate.CopyWithPrivateKey(s_key), null, offline: true);
    }

    /// <inheritdoc/>
    public override NodeIdentity Identity { get; }

    /// <inheritdoc/>
    public override string Accepts => "all nodes of the simulation";

    public static SimCredentials Of(NodeAddress address) => s_all.GetOrAdd(address, static address => new(address));

    /// <inheritdoc/>
    public override SslStreamCertificateContext Own() => _own;

    /// <inheritdoc/>
    public override X509ChainPolicy Chain() => Chains.Of([]);

    /// <inheritdoc/>
    public override NodeIdentity Identify(X509Certificate2 certificate, SslPolicyErrors errors, out string why)
    {
        why = "";
        return NameOf(certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false));
    }

    /// <summary>The identity of the node at an address.</summary>
    public static NodeIdentity NameOf(string address) => new($"sim:{address}");
}
