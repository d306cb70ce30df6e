using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Groups;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;

namespace Ida.Process.Tests.Nodes;

/// <summary>Nodes with credentials, over real sockets.</summary>
public sealed class SecureNodeTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Brief = TimeSpan.FromSeconds(3);

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Nodes_that_share_a_key_form_a_cluster_that_keeps_data()
    {
        var security = Security.ClusterKey(Security.NewClusterKey());
        var nodes = new List<IdaNode>();
        try
        {
            for (int i = 0; i < 3; i++) nodes.Add(await StartAsync(Options(security, nodes)));
            var dhts = await Task.WhenAll((await JoinAllAsync(nodes)).Select(group => group.EnableDhtAsync(new() { ShardSize = 2, TargetSize = 2 }, static maps => maps.Map<string, byte[]>("m")).AsTask())).WaitAsync(Bound, Cancellation);
            byte[] value = new byte[200_000];
            Random.Shared.NextBytes(value);
            await dhts[0].Map<string, byte[]>("m").PutAsync("key", value);
            foreach (var dht in dhts) Assert.Equal(value, (await dht.Map<string, byte[]>("m").GetAsync("key")).Value);
        }
        finally
        {
            await EndAsync(nodes);
        }
    }

    [Fact]
    public async Task A_node_with_another_key_is_kept_out_and_told_why()
    {
        var log = new LogCollector();
        await using var node = await StartAsync(new() { Cluster = "s", Security = Security.ClusterKey(Security.NewClusterKey()), LoggerFactory = log });
        var error = await Assert.ThrowsAsync<ClusterUnreachableException>(() => StartAsync(Beside(node, Security.ClusterKey(Security.NewClusterKey()))));
        Assert.Contains("did not show that it belongs to the cluster", error.Message, StringComparison.Ordinal);
        var refused = await log.FirstAsync("PeerUntrusted").WaitAsync(Bound, Cancellation);
        Assert.Equal((1108, LogLevel.Warning), (refused.Id, refused.Level));
        Assert.Contains("another cluster key", refused.Message, StringComparison.Ordinal);
        Assert.True(node.Counters.Refused(GroupCore.Runtime.RefusalReason.Untrusted) > 0);
    }

    [Fact]
    public async Task A_node_without_credentials_and_one_with_them_do_not_find_each_other()
    {
        var security = Security.ClusterKey(Security.NewClusterKey());
        await using var secure = await StartAsync(new() { Cluster = "s", Security = security });
        await using var open = await StartAsync(new() { Cluster = "s" });
        await Assert.ThrowsAsync<ClusterUnreachableException>(() => StartAsync(Beside(secure, Security.Loopback)));
        await Assert.ThrowsAsync<ClusterUnreachableException>(() => StartAsync(Beside(open, security)));
    }

    [Fact]
    public async Task A_node_says_at_its_start_where_it_listens_and_whom_it_accepts()
    {
        var log = new LogCollector();
        await using var node = await StartAsync(new() { Cluster = "s", Security = Security.ClusterKey(Security.NewClusterKey()), LoggerFactory = log });
        var line = await log.FirstAsync("Listening").WaitAsync(Bound, Cancellation);
        Assert.Contains($"listens at {node.Address.Text} and accepts nodes of cluster 's' that prove its key.", line.Message, StringComparison.Ordinal);
    }

    /// <summary>The point of credentials. Skipped on a machine that has only its loopback.</summary>
    [Fact]
    public async Task With_credentials_a_node_listens_beyond_the_loopback()
    {
        var address = NetworkInterface.GetAllNetworkInterfaces().Where(static one => one.OperationalStatus == OperationalStatus.Up)
            .SelectMany(static one => one.GetIPProperties().UnicastAddresses).Select(static one => one.Address)
            .FirstOrDefault(static one => one.AddressFamily == AddressFamily.InterNetwork && !IPAddress.IsLoopback(one));
        Assert.SkipWhen(address is null, "skipped: this machine has no address but the loopback's");
        string listen = $"{address}:0";
        await Assert.ThrowsAsync<InsecureBindException>(() => StartAsync(new() { Cluster = "s", Listen = listen }));
        var security = Security.ClusterKey(Security.NewClusterKey());
        await using var first = await StartAsync(new() { Cluster = "s", Listen = listen, Security = security });
        await using var second = await StartAsync(new() { Cluster = "s", Listen = listen, Seeds = [first.Address.Text], Security = security });
        Assert.StartsWith($"{address}:", second.Address.Text, StringComparison.Ordinal);
        await JoinAllAsync([first, second]);
    }

    /// <summary>The key is replaced in three steps while the cluster works: at each step a node comes that has read the file only now, and nobody leaves.</summary>
    [Fact]
    public async Task A_key_is_replaced_while_the_cluster_runs()
    {
        string old = Security.NewClusterKey(), fresh = Security.NewClusterKey(), path = Path.GetTempFileName();
        var nodes = new List<IdaNode>();
        try
        {
            await File.WriteAllTextAsync(path, old, Cancellation);
            nodes.Add(await StartAsync(Options(Security.ClusterKeyFile(path), nodes)));
            foreach (string text in (string[])[$"{old}\n{fresh}", $"{fresh}\n{old}", fresh])
            {
                await File.WriteAllTextAsync(path, text, Cancellation);
                nodes.Add(await StartAsync(Options(Security.ClusterKeyFile(path), nodes)));
                await JoinAllAsync(nodes);
            }
            await Assert.ThrowsAsync<ClusterUnreachableException>(() => StartAsync(Beside(nodes[0], Security.ClusterKey(old))));
        }
        finally
        {
            await EndAsync(nodes);
            File.Delete(path);
        }
    }

    /// <summary>Files of certificates are replaced while the cluster runs; one that is broken changes nothing, and the log says so.</summary>
    [Fact]
    public async Task Nodes_with_certificates_form_a_cluster_and_renew_them()
    {
        using var authority = new TestAuthority();
        var folder = Directory.CreateTempSubdirectory();
        var nodes = new List<IdaNode>();
        var log = new LogCollector();
        try
        {
            for (int i = 0; i < 2; i++) nodes.Add(await StartAsync(Options(Files(i), nodes) with { LoggerFactory = i == 0 ? log : null }));
            await JoinAllAsync(nodes);
            Files(0);
            nodes.Add(await StartAsync(Options(Files(2), nodes)));
            await JoinAllAsync(nodes);
            await File.WriteAllTextAsync(Path.Combine(folder.FullName, "0.pem"), "half", Cancellation);
            nodes.Add(await StartAsync(Options(Files(3), nodes)));
            await JoinAllAsync(nodes);
            Assert.Equal((1110, LogLevel.Error), (await log.FirstAsync("CredentialsFailed").WaitAsync(Bound, Cancellation)) is { } line ? (line.Id, line.Level) : default);
        }
        finally
        {
            await EndAsync(nodes);
            folder.Delete(recursive: true);
        }

        Security Files(int number) => FilesOf(authority, folder, number);
    }

    /// <summary>The node that leads is asked about itself too.</summary>
    [Fact]
    public async Task Who_may_join_a_group_is_said_by_the_name_in_its_certificate()
    {
        using var authority = new TestAuthority();
        var folder = Directory.CreateTempSubdirectory();
        var nodes = new List<IdaNode>();
        var log = new LogCollector();
        try
        {
            for (int i = 0; i < 2; i++) nodes.Add(await StartAsync(Options(FilesOf(authority, folder, i), nodes) with { LoggerFactory = i == 0 ? log : null, CanJoin = MayJoin }));
            await JoinAllAsync(nodes);
            await using var first = await nodes[0].JoinAsync("zero only", cancellationToken: Cancellation).AsTask().WaitAsync(Bound, Cancellation);
            var error = await Assert.ThrowsAsync<JoinRefusedException>(() => nodes[1].JoinAsync("zero only", cancellationToken: Cancellation).AsTask().WaitAsync(Bound, Cancellation));
            Assert.Contains("'urn:ida:s:n1' may not join it", error.Message, StringComparison.Ordinal);
            var line = await log.FirstAsync("JoinDenied").WaitAsync(Bound, Cancellation);
            Assert.Equal((2018, LogLevel.Warning), (line.Id, line.Level));
            Assert.True(nodes[0].Counters.Refused(GroupCore.Runtime.RefusalReason.Denied) > 0);
            await Assert.ThrowsAsync<JoinRefusedException>(() => nodes[0].JoinAsync("one only", cancellationToken: Cancellation).AsTask().WaitAsync(Bound, Cancellation));
            await using var second = await nodes[1].JoinAsync("one only", cancellationToken: Cancellation).AsTask().WaitAsync(Bound, Cancellation);
        }
        finally
        {
            await EndAsync(nodes);
            folder.Delete(recursive: true);
        }

        static bool MayJoin(NodeIdentity identity, string group) => group switch
        {
            "zero only" => identity.Name == "urn:ida:s:n0",
            "one only" => identity.Name == "urn:ida:s:n1",
            _ => true,
        };
    }

    /// <summary>A node that was a member is taken off the list. It comes back with the same certificate, and is kept out; the others go on.</summary>
    [Fact]
    public async Task A_former_member_whose_key_is_off_the_list_does_not_come_back()
    {
        using var authority = new TestAuthority();
        var certificates = Enumerable.Range(0, 3).Select(number => authority.Issue($"urn:ida:s:n{number}")).ToList();
        var keys = certificates.ConvertAll(static one => Convert.ToHexStringLower(SHA256.HashData(one.PublicKey.ExportSubjectPublicKeyInfo())));
        IReadOnlyCollection<string> allowed = keys;
        Security Of(int number) => Security.Certificates(new() { Own = () => certificates[number], Allowed = () => allowed });
        var nodes = new List<IdaNode>();
        var log = new LogCollector();
        try
        {
            for (int i = 0; i < 3; i++) nodes.Add(await StartAsync(Options(Of(i), nodes) with { LoggerFactory = i == 0 ? log : null }));
            await JoinAllAsync(nodes);
            allowed = [keys[0], keys[1]];
            await nodes[2].DisposeAsync().AsTask().WaitAsync(Bound, Cancellation);
            nodes.RemoveAt(2);
            await Assert.ThrowsAsync<ClusterUnreachableException>(() => StartAsync(Beside(nodes[0], Of(2))));
            Assert.Contains("not in the list", (await log.FirstAsync("PeerUntrusted").WaitAsync(Bound, Cancellation)).Message, StringComparison.Ordinal);
            await JoinAllAsync(nodes);
        }
        finally
        {
            await EndAsync(nodes);
            foreach (var one in certificates) one.Dispose();
        }
    }

    /// <summary>A client of TLS that everybody has, with what it shows and without.</summary>
    [Theory]
    [InlineData("-tls1_3 -alpn ida/1", false), InlineData("-tls1_2 -alpn ida/1 -cert {0} -key {1}", true), InlineData("-tls1_3 -cert {0} -key {1}", true), InlineData("-tls1_3 -alpn ida/1 -cert {0} -key {1}", false)]
    public async Task A_client_of_OpenSSL_is_refused(string options, bool belongs)
    {
        using var authority = new TestAuthority();
        using var other = new TestAuthority();
        using var own = authority.Issue("urn:ida:s:n0");
        using var foreign = (belongs ? authority : other).Issue("urn:ida:s:n1");
        var folder = Directory.CreateTempSubdirectory();
        try
        {
            string[] files = [Path.Combine(folder.FullName, "x.pem"), Path.Combine(folder.FullName, "x.key")];
            await File.WriteAllTextAsync(files[0], foreign.ExportCertificatePem(), Cancellation);
            await File.WriteAllTextAsync(files[1], foreign.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem(), Cancellation);
            var log = new LogCollector();
            await using var node = await StartAsync(new() { Cluster = "s", Security = Security.Certificates(new() { Own = () => own, Authorities = () => authority.Certificates }), LoggerFactory = log });
            System.Diagnostics.Process client;
            try
            {
                client = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo("openssl", $"s_client -connect {node.Address.Text} {string.Format(System.Globalization.CultureInfo.InvariantCulture, options, files)}")
                { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true })!;
            }
            catch (System.ComponentModel.Win32Exception)
            {
                Assert.Skip("skipped: this machine has no openssl");
                return;
            }
            using (client)
            {
                // It stays while its input does, unless the node ends the connection.
                var said = client.StandardOutput.ReadToEndAsync(Cancellation);
                var told = client.StandardError.ReadToEndAsync(Cancellation);
                try
                {
                    await client.WaitForExitAsync(Cancellation).WaitAsync(Bound, Cancellation);
                }
                finally
                {
                    if (!client.HasExited) client.Kill();
                }
                Assert.DoesNotContain("unknown option", await told, StringComparison.OrdinalIgnoreCase);
                _ = await said;
            }
            await log.FirstAsync("PeerUntrusted").WaitAsync(Bound, Cancellation);
            Assert.True(node.Counters.Refused(GroupCore.Runtime.RefusalReason.Untrusted) > 0);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task A_rule_for_joins_needs_credentials()
    {
        var error = await Assert.ThrowsAnyAsync<ArgumentException>(() => StartAsync(new() { Cluster = "s", CanJoin = static (_, _) => true }));
        Assert.Contains("CanJoin", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Credentials_that_cannot_be_used_end_the_start_with_what_is_wrong()
    {
        string path = Path.GetTempFileName();
        try
        {
            var error = await Assert.ThrowsAsync<CredentialsException>(() => StartAsync(new() { Cluster = "s", Security = Security.ClusterKeyFile(path) }));
            Assert.Contains("allowed are 1 to 2", error.Message, StringComparison.Ordinal);
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static Security FilesOf(TestAuthority authority, DirectoryInfo folder, int number)
    {
        using var own = authority.Issue($"urn:ida:s:n{number}");
        string[] files = [.. ((string[])[$"{number}.pem", $"{number}.key", "authority.pem"]).Select(name => Path.Combine(folder.FullName, name))];
        File.WriteAllText(files[0], own.ExportCertificatePem());
        File.WriteAllText(files[1], own.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem());
        File.WriteAllText(files[2], authority.Certificates[0].ExportCertificatePem());
        return Security.CertificateFiles(files[0], files[1], files[2]);
    }

    private static IdaNodeOptions Options(Security security, List<IdaNode> others) =>
        new() { Cluster = "s", Seeds = [.. others.Select(static node => node.Address.Text)], Listen = "127.0.0.1:0", Security = security };

    private static IdaNodeOptions Beside(IdaNode node, Security security) =>
        new() { Cluster = "s", Seeds = [node.Address.Text], Listen = "127.0.0.1:0", Security = security, StartTimeout = Brief };

    private static Task<IdaNode> StartAsync(IdaNodeOptions options) => IdaNode.StartAsync(options, Cancellation).AsTask().WaitAsync(Bound, Cancellation);

    private static async Task<Group[]> JoinAllAsync(List<IdaNode> nodes)
    {
        string name = $"g{nodes.Count}";
        var groups = await Task.WhenAll(nodes.Select(node => node.JoinAsync(name, cancellationToken: Cancellation).AsTask())).WaitAsync(Bound, Cancellation);
        foreach (var group in groups) await SeesAsync(group, nodes.Count).WaitAsync(Bound, Cancellation);
        return groups;
    }

    private static async Task SeesAsync(Group group, int members)
    {
        await foreach (var view in group.Views(Cancellation))
            if (view.Members.Count == members) return;
    }

    private static async Task EndAsync(List<IdaNode> nodes)
    {
        foreach (var node in nodes) await node.DisposeAsync().AsTask().WaitAsync(Bound, Cancellation);
    }
}
