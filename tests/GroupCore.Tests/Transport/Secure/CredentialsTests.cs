using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Transport.Credentials;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Transport.Secure;

/// <summary>What is taken for a key or a certificate, and what is said of what is not.</summary>
public sealed class CredentialsTests
{
    private const string Cluster = "c", Name = "urn:ida:c:a";
    private static readonly string s_hex = new('a', 64);

    [Fact]
    public void A_new_key_can_be_used_and_differs_each_time()
    {
        string key = Security.NewClusterKey();
        Assert.NotNull(Security.ClusterKey(key).Open(Cluster));
        Assert.NotEqual(key, Security.NewClusterKey());
    }

    [Fact]
    public void A_key_is_read_in_base64_and_in_hexadecimal_digits()
    {
        var keys = ClusterKeys.Read($"{s_hex}\n{Convert.ToBase64String(Convert.FromHexString(s_hex))}", "X");
        Assert.Equal(2, keys.Count);
        Assert.True(keys[0].SequenceEqual(keys[1]));
    }

    [Theory]
    [InlineData(""), InlineData("abc"), InlineData("zz"), InlineData("YWJj"), InlineData("a,b,c")]
    public void What_is_no_key_is_refused_with_its_length_and_what_is_allowed(string text)
    {
        var error = Assert.Throws<CredentialsException>(() => ClusterKeys.Read(text, "The key"));
        Assert.Contains("allowed are", error.Message);
    }

    [Fact]
    public void A_message_never_shows_the_key()
    {
        string almost = s_hex[..63];
        Assert.DoesNotContain(almost, Assert.Throws<CredentialsException>(() => Security.ClusterKey(almost)).Message);
    }

    [Fact]
    public void A_file_of_keys_is_read_again_when_it_has_changed_and_keeps_its_keys_while_it_has_none()
    {
        string path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, s_hex);
            var credentials = Security.ClusterKeyFile(path).Open(Cluster)!;
            Assert.Equal(1, credentials.Keys!.Count);
            File.WriteAllText(path, $"{new string('b', 64)}\n{s_hex}");
            Assert.Equal(2, credentials.Keys.Count);
            Assert.Equal(0xbb, credentials.Keys[0][0]);
            File.WriteAllText(path, "half");
            Assert.Equal(2, credentials.Keys.Count);
            File.Delete(path);
            Assert.Equal(2, credentials.Keys.Count);
            Assert.Throws<CredentialsException>(() => Security.ClusterKeyFile(path).Open(Cluster));
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Fact]
    public void Nodes_with_a_cluster_key_have_identities_of_their_own()
    {
        var security = Security.ClusterKey(Security.NewClusterKey());
        Assert.NotEqual(security.Open(Cluster)!.Identity, security.Open(Cluster)!.Identity);
    }

    [Fact]
    public void An_id_belongs_to_an_identity_and_a_start()
    {
        var identity = new NodeIdentity(Name);
        Assert.Equal(identity.IdOf(7), new NodeIdentity(Name).IdOf(7));
        Assert.NotEqual(identity.IdOf(7), identity.IdOf(8));
        Assert.NotEqual(identity.IdOf(7), new NodeIdentity("urn:ida:c:b").IdOf(7));
        for (ulong start = 0; start < 100; start++) Assert.NotEqual(0UL, identity.IdOf(start));
    }

    [Fact]
    public void The_name_in_a_certificate_is_the_node_s_identity()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue(Name);
        var credentials = Open(authority, own);
        Assert.Equal(new NodeIdentity(Name), credentials.Identity);
        Assert.Equal(new NodeIdentity("urn:ida:c:b"), credentials.Identify(authority.Issue("urn:ida:c:b"), SslPolicyErrors.RemoteCertificateNameMismatch, out _));
    }

    [Theory]
    [InlineData(null, null, "names no node"), InlineData("urn:ida:d:a", null, "another cluster"), InlineData("urn:ida:c:", null, "another cluster"), InlineData("urn:ida:c:a", "urn:ida:c:b", "more than one"), InlineData("urn:other:c:a", null, "names no node")]
    public void A_certificate_without_one_name_of_a_node_of_this_cluster_is_not_accepted(string? uri, string? second, string why)
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue(Name);
        using var other = authority.Issue(uri, second: second);
        Assert.Null(Open(authority, own).Identify(other, SslPolicyErrors.None, out string said));
        Assert.Contains(why, said);
        Assert.Contains(why, Assert.Throws<CredentialsException>(() => Open(authority, other)).Message);
    }

    [Fact]
    public void A_certificate_without_its_private_key_cannot_be_a_node_s_own()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue(Name);
        Assert.Contains("private key", Assert.Throws<CredentialsException>(() => Open(authority, X509CertificateLoader.LoadCertificate(own.RawData))).Message);
    }

    [Fact]
    public void A_list_accepts_keys_that_stand_in_it_and_no_others()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue(Name);
        using var listed = authority.Issue("urn:ida:c:b");
        using var other = authority.Issue("urn:ida:c:b");
        using var late = authority.Issue("urn:ida:c:d", expired: true);
        string[] allowed = [CertificateNames.DigestOfKey(listed).ToUpperInvariant(), CertificateNames.DigestOfKey(late)];
        var credentials = Security.Certificates(new() { Own = () => own, Allowed = () => allowed }).Open(Cluster)!;
        // No authority is asked, so the chain of each certificate has errors.
        Assert.NotNull(credentials.Identify(listed, SslPolicyErrors.RemoteCertificateChainErrors, out _));
        Assert.Null(credentials.Identify(other, SslPolicyErrors.RemoteCertificateChainErrors, out string why));
        Assert.Contains("not in the list", why);
        Assert.Null(credentials.Identify(late, SslPolicyErrors.RemoteCertificateChainErrors, out why));
        Assert.Contains("not valid now", why);
    }

    /// <summary>A node in the list signs itself a certificate in another node's name.</summary>
    [Fact]
    public void With_a_list_alone_the_key_is_the_identity_and_not_the_name()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue(Name);
        using var liar = authority.Issue(Name);
        var credentials = Security.Certificates(new() { Own = () => own, Allowed = () => [CertificateNames.DigestOfKey(own), CertificateNames.DigestOfKey(liar)] }).Open(Cluster)!;
        Assert.NotEqual(credentials.Identity, credentials.Identify(liar, SslPolicyErrors.None, out _));
        Assert.Equal(credentials.Identity, credentials.Identify(own, SslPolicyErrors.None, out _));
    }

    [Fact]
    public void A_certificate_that_is_accepted_leaves_no_reason_against_it()
    {
        using var authority = new TestAuthority();
        using var own = authority.Issue(Name);
        Open(authority, own).Identify(own, SslPolicyErrors.None, out string why);
        Assert.Equal("", why);
    }

    /// <summary>As where secrets are mounted: the name leads to another file from one moment to the next, and times and lengths are alike.</summary>
    [Fact]
    public void A_key_behind_a_link_that_leads_elsewhere_now_is_read()
    {
        var folder = Directory.CreateTempSubdirectory();
        try
        {
            string link = Path.Combine(folder.FullName, "key");
            foreach (char key in "ab")
            {
                string file = Path.Combine(folder.FullName, $"{key}");
                File.WriteAllText(file, new(key, 64));
                File.SetLastWriteTimeUtc(file, DateTime.UnixEpoch);
            }
            File.CreateSymbolicLink(link, Path.Combine(folder.FullName, "a"));
            var credentials = Security.ClusterKeyFile(link).Open(Cluster)!;
            Assert.Equal(0xaa, credentials.Keys![0][0]);
            File.Delete(link);
            File.CreateSymbolicLink(link, Path.Combine(folder.FullName, "b"));
            Assert.Equal(0xbb, credentials.Keys[0][0]);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void What_is_wrong_with_a_file_is_told_until_it_is_right_again()
    {
        string path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, s_hex);
            var credentials = Security.ClusterKeyFile(path).Open(Cluster)!;
            Assert.Null(credentials.TakeTrouble());
            File.WriteAllText(path, "half");
            Assert.Equal(1, credentials.Keys!.Count);
            Assert.Contains("allowed are", credentials.TakeTrouble());
            File.WriteAllText(path, s_hex);
            Assert.Equal(1, credentials.Keys.Count);
            Assert.Null(credentials.TakeTrouble());
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Fact]
    public void Options_that_accept_nobody_are_refused()
    {
        Assert.Throws<CredentialsException>(() => Security.Certificates(new() { Own = () => null! }));
        Assert.Throws<CredentialsException>(() => Security.Certificates(new() { Own = null!, Allowed = () => [] }));
    }

    [Fact]
    public void A_renewed_certificate_is_shown_and_one_with_another_name_is_not()
    {
        using var authority = new TestAuthority();
        using var first = authority.Issue(Name);
        using var renewed = authority.Issue(Name);
        using var another = authority.Issue("urn:ida:c:b");
        var now = first;
        var credentials = Security.Certificates(new() { Own = () => now, Authorities = () => authority.Certificates }).Open(Cluster)!;
        Assert.Equal(first.Thumbprint, credentials.Own().TargetCertificate.Thumbprint);
        now = renewed;
        Assert.Equal(renewed.Thumbprint, credentials.Own().TargetCertificate.Thumbprint);
        now = another;
        Assert.Equal(renewed.Thumbprint, credentials.Own().TargetCertificate.Thumbprint);
        Assert.Contains("must belong to", credentials.TakeTrouble());
        Assert.Null(credentials.TakeTrouble());
    }

    /// <summary>Whoever renews a certificate disposes the old one.</summary>
    [Fact]
    public void The_old_certificate_is_not_needed_any_more()
    {
        using var authority = new TestAuthority();
        var first = authority.Issue(Name);
        using var renewed = authority.Issue(Name);
        var now = first;
        var credentials = Security.Certificates(new() { Own = () => now, Authorities = () => authority.Certificates }).Open(Cluster)!;
        now = renewed;
        first.Dispose();
        Assert.Equal(renewed.Thumbprint, credentials.Own().TargetCertificate.Thumbprint);
    }

    private static NodeCredentials Open(TestAuthority authority, X509Certificate2 own) => Security.Certificates(new() { Own = () => own, Authorities = () => authority.Certificates }).Open(Cluster)!;
}
