using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace GroupCore.Transport.Credentials;

/// <summary>Certificates from the texts of PEM files.</summary>
internal static class PemFiles
{
    /// <summary>The first certificate, with its key.</summary>
    public static X509Certificate2 Own(string certificate, string key)
    {
        try
        {
            var own = X509Certificate2.CreateFromPem(certificate, key);
            // Windows uses no key that is in memory only.
            return OperatingSystem.IsWindows() ? X509CertificateLoader.LoadPkcs12(own.Export(X509ContentType.Pkcs12), null) : own;
        }
        catch (Exception error) when (error is CryptographicException or ArgumentException)
        {
            throw new CredentialsException($"The node's certificate or its key cannot be read: {error.Message} Allowed are PEM files.", error);
        }
    }

    /// <summary>All certificates of a file.</summary>
    public static X509Certificate2Collection All(string pem, string what)
    {
        var all = new X509Certificate2Collection();
        try
        {
            all.ImportFromPem(pem);
        }
        catch (CryptographicException error)
        {
            throw new CredentialsException($"The {what} cannot be read: {error.Message} Allowed is a PEM file.", error);
        }
        return all.Count > 0 ? all : throw new CredentialsException($"The {what} hold no certificate; at least one is needed.");
    }
}
