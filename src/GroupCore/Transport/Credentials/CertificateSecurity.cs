using GroupCore.Basics;

namespace GroupCore.Transport.Credentials;

/// <summary>Nodes are known by their certificates.</summary>
internal sealed class CertificateSecurity(CertificateOptions options) : Security
{
    internal override NodeCredentials Open(string cluster)
    {
        try
        {
            return new CertificateCredentials(cluster, options);
        }
        catch (Exception error) when (error is not CredentialsException)
        {
            throw new CredentialsException($"The node's certificate cannot be had: {UserError.Text(error)}", error);
        }
    }
}
