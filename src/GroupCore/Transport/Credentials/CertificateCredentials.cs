using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Basics;

namespace GroupCore.Transport.Credentials;

/// <summary>A node's certificate, and the rule by which it accepts those of others (<see cref="CertificateOptions"/>).</summary>
internal sealed class CertificateCredentials : NodeCredentials
{
    private readonly CertificateOptions _options;
    private readonly string _cluster;

    // Two lives of a node may shake hands at once, while one follows the other.
    private readonly Lock _lock = new();
    private X509Certificate2 _shown;
    private X509Certificate2Collection _between;
    private SslStreamCertificateContext _own;
    private string? _trouble;
    private long _asked, _taken;

    public CertificateCredentials(string cluster, CertificateOptions options)
    {
        (_cluster, _options) = (cluster, options);
        (_shown, _between) = Ask();
        Identity = Checked(_shown);
        _own = Context(_shown, _between);
        Accepts = $"nodes whose certificate names cluster '{cluster}' and is {(options.Authorities is null ? "in the list of those allowed" : "issued by a known authority")}";
    }

    /// <inheritdoc/>
    public override NodeIdentity Identity { get; }

    /// <inheritdoc/>
    public override string Accepts { get; }

    /// <inheritdoc/>
    public override SslStreamCertificateContext Own()
    {
        string? trouble = null;
        long number = Interlocked.Increment(ref _asked);
        try
        {
            // The user's functions may wait, and another life must not wait with them.
            var (now, between) = Ask();
            using var _ = _lock.Hold();
            // What another life asked for later is newer, as a rule.
            if (number < _taken) return _own;
            _taken = number;
            // The object counts: whoever gives another one may have disposed this one.
            if (ReferenceEquals(now, _shown) && between.Select(static one => one.Thumbprint).SequenceEqual(_between.Select(static one => one.Thumbprint))) return _own;
            // Others know the node by its identity, and its id follows from it.
            if (Checked(now) is var identity && identity != Identity) throw new CredentialsException($"The node's new certificate belongs to '{identity.Name}'; it must belong to '{Identity.Name}' as before.");
            (_shown, _between, _own) = (now, between, Context(now, between));
        }
        catch (CredentialsException error)
        {
            trouble = error.Message;
        }
        using (_lock.Hold())
        {
            _trouble = trouble ?? _trouble;
            return _own;
        }
    }

    /// <inheritdoc/>
    public override X509ChainPolicy Chain() => Chains.Of(_options.Authorities?.Invoke() ?? []);

    /// <inheritdoc/>
    public override string? TakeTrouble()
    {
        using var _ = _lock.Hold();
        string? trouble = _trouble ?? _options.Trouble?.Invoke();
        _trouble = null;
        return trouble;
    }

    /// <inheritdoc/>
    public override NodeIdentity? Identify(X509Certificate2 certificate, SslPolicyErrors errors, out string why)
    {
        if (CertificateNames.NodeOf(certificate, _cluster, out why) is null) return null;
        // The name in the certificate is a node's, not a host's.
        errors &= ~SslPolicyErrors.RemoteCertificateNameMismatch;
        if (_options.Authorities is not null && errors != SslPolicyErrors.None) why = "no known authority issued the certificate, or it is not valid now";
        else if (_options.Authorities is null && !IsInTime(certificate)) why = "the certificate is not valid now";
        else if (_options.Allowed is { } allowed && !IsIn(allowed, CertificateNames.DigestOfKey(certificate))) why = "the certificate's key is not in the list of those allowed";
        return why.Length == 0 ? IdentityOf(certificate) : null;
    }

#pragma warning disable RS0030 // No time of a protocol: certificates are valid by the calendar.
    private static bool IsInTime(X509Certificate2 certificate) => DateTime.UtcNow is var now && now >= certificate.NotBefore.ToUniversalTime() && now <= certificate.NotAfter.ToUniversalTime();
#pragma warning restore RS0030

    // The list may be one that changes while it is read.
    private static bool IsIn(Func<IReadOnlyCollection<string>> allowed, string digest)
    {
        try
        {
            return (allowed() ?? throw new CredentialsException("Allowed gave no list.")).Contains(digest, StringComparer.OrdinalIgnoreCase);
        }
        catch (Exception error) when (error is not CredentialsException)
        {
            throw new CredentialsException($"Allowed threw {UserError.Text(error)}");
        }
    }

    private static SslStreamCertificateContext Context(X509Certificate2 certificate, X509Certificate2Collection between) => SslStreamCertificateContext.Create(certificate, between, offline: true);

    // Whoever signs a certificate himself chooses the name in it: without an authority only the key says who he is.
    private NodeIdentity IdentityOf(X509Certificate2 certificate) => _options.Authorities is null ? CertificateNames.ByKey(certificate) : new(CertificateNames.NodeOf(certificate, _cluster, out _)!);

    private (X509Certificate2 Certificate, X509Certificate2Collection Between) Ask() =>
        (_options.Own() ?? throw new CredentialsException("Own gave no certificate."), _options.Between?.Invoke() ?? []);

    private NodeIdentity Checked(X509Certificate2 own)
    {
        if (!own.HasPrivateKey) throw new CredentialsException("The node's own certificate has no private key.");
        if (CertificateNames.NodeOf(own, _cluster, out string why) is null) throw new CredentialsException($"The node's own certificate cannot be used: {why}. Cluster is '{_cluster}'.");
        return IdentityOf(own);
    }
}
