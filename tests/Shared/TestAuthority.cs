using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Ida.Tests.Shared;

/// <summary>An authority that issues certificates to nodes.</summary>
internal sealed class TestAuthority : IDisposable
{
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly X509Certificate2 _certificate;

    /// <param name="above">The authority that vouches for this one; null for none.</param>
    public TestAuthority(TestAuthority? above = null)
    {
        var request = new CertificateRequest(above is null ? "CN=authority" : "CN=between", _key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(certificateAuthority: true, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        var (from, to) = (DateTimeOffset.UtcNow.AddDays(-2), DateTimeOffset.UtcNow.AddDays(20));
        _certificate = above is null ? request.CreateSelfSigned(from, to) : request.Create(above._certificate, from, to, RandomNumberGenerator.GetBytes(8)).CopyWithPrivateKey(_key);
    }

    public X509Certificate2Collection Certificates => [X509CertificateLoader.LoadCertificate(_certificate.RawData)];

    /// <summary>A node's certificate; valid now unless <paramref name="expired"/>.</summary>
    public X509Certificate2 Issue(string? uri, bool expired = false, string? second = null, string? usage = null)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=node", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("node.example");
        if (uri is not null) names.AddUri(new(uri));
        if (second is not null) names.AddUri(new(second));
        request.CertificateExtensions.Add(names.Build());
        if (usage is not null) request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new(usage)], critical: true));
        byte[] number = RandomNumberGenerator.GetBytes(8);
        using var issued = request.Create(_certificate, DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(expired ? -0.5 : 10), number);
        return issued.CopyWithPrivateKey(key);
    }

    public void Dispose()
    {
        _certificate.Dispose();
        _key.Dispose();
    }
}
