using System.Security.Cryptography.X509Certificates;

namespace GroupCore.Transport.Credentials;

/// <summary>A node's certificate with its private key, and the certificates between it and its authority.</summary>
internal sealed record OwnCertificate(X509Certificate2 Certificate, X509Certificate2Collection Between)
{
    public static OwnCertificate Read(string certificate, string key)
    {
        var own = PemFiles.Own(certificate, key);
        var between = PemFiles.All(certificate, "certificates of the node");
        between.RemoveAt(0);
        return new(own, between);
    }
}
