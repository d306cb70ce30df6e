using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace GroupCore.Transport.Credentials;

/// <summary>What a certificate says of its holder.</summary>
internal static class CertificateNames
{
    private const string AlternativeNames = "2.5.29.17";

    // GeneralName: uniformResourceIdentifier [6] IA5String (RFC 5280, 4.2.1.6).
    private static readonly Asn1Tag Uri = new(TagClass.ContextSpecific, 6);

    /// <summary>SHA-256 of the public key (SubjectPublicKeyInfo), in lower-case hexadecimal digits.</summary>
    public static string DigestOfKey(X509Certificate2 certificate) => Convert.ToHexStringLower(SHA256.HashData(certificate.PublicKey.ExportSubjectPublicKeyInfo()));

    /// <summary>The identity of a holder whose name nobody vouches for.</summary>
    public static NodeIdentity ByKey(X509Certificate2 certificate) => new($"key:{DigestOfKey(certificate)}");

    /// <summary>The name of a node of this cluster, <c>urn:ida:CLUSTER:NAME</c>; null if the certificate has none, or several, or names another cluster.</summary>
    public static string? NodeOf(X509Certificate2 certificate, string cluster, out string why)
    {
        string prefix = $"urn:ida:{System.Uri.EscapeDataString(cluster)}:";
        string? found = null;
        why = $"the certificate names no node: no alternative name begins with '{prefix}'";
        foreach (string name in UrisOf(certificate))
        {
            if (!name.StartsWith("urn:ida:", StringComparison.Ordinal)) continue;
            if (found is not null)
            {
                why = "the certificate names more than one node";
                return null;
            }
            if (!name.StartsWith(prefix, StringComparison.Ordinal) || name.Length == prefix.Length)
            {
                why = "the certificate is one of another cluster";
                return null;
            }
            found = name;
        }
        if (found is not null) why = "";
        return found;
    }

    // A certificate that is no proper DER has no names.
    private static List<string> UrisOf(X509Certificate2 certificate)
    {
        var names = new List<string>();
        if (certificate.Extensions[AlternativeNames] is not { } extension) return names;
        try
        {
            var reader = new AsnReader(extension.RawData, AsnEncodingRules.DER).ReadSequence();
            while (reader.HasData)
            {
                if (reader.PeekTag() == Uri) names.Add(reader.ReadCharacterString(UniversalTagNumber.IA5String, Uri));
                else reader.ReadEncodedValue();
            }
        }
        catch (AsnContentException)
        {
            names.Clear();
        }
        return names;
    }
}
