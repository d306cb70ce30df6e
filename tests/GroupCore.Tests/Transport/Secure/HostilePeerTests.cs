using System.Diagnostics;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Secure;
using GroupCore.Transport.Sockets;
using Ida.Tests.Shared;

#pragma warning disable CA5359 // A hostile client accepts whoever answers.

namespace GroupCore.Tests.Transport.Secure;

/// <summary>Those who do not belong to the cluster: each is refused, with a reason, and not one byte of theirs reaches the node.</summary>
public sealed class HostilePeerTests
{
    private static readonly SslApplicationProtocol s_protocol = new("ida/1");

    [Fact]
    public void A_node_with_another_key_is_refused_by_both_ends()
    {
        using var left = Keyed();
        using var right = Keyed();
        Refused(left, right);
        Assert.Contains("another cluster key", Assert.Single(right.Untrusted));
    }

    /// <summary>The key alone does not do: a cluster of another name may have the same one.</summary>
    [Fact]
    public void A_node_of_another_cluster_with_the_same_key_is_refused()
    {
        var security = Security.ClusterKey(Security.NewClusterKey());
        using var left = new SecureEnd(security.Open("c")!, cluster: "c");
        using var right = new SecureEnd(security.Open("d")!, cluster: "d");
        Refused(left, right);
        Assert.Contains("does not prove", Assert.Single(left.Untrusted));
    }

    [Theory]
    [InlineData("unknown", "no known authority"), InlineData("expired", "not valid now"), InlineData("cluster", "another cluster"), InlineData("nameless", "names no node"), InlineData("server", "no known authority")]
    public void A_certificate_that_is_not_accepted_gets_nobody_in(string what, string why)
    {
        using var authority = new TestAuthority();
        using var stranger = new TestAuthority();
        using var good = authority.Issue("urn:ida:c:a");
        using var bad = what switch
        {
            "unknown" => stranger.Issue("urn:ida:c:b"),
            "expired" => authority.Issue("urn:ida:c:b", expired: true),
            "cluster" => authority.Issue("urn:ida:d:b"),
            "server" => authority.Issue("urn:ida:c:b", usage: "1.3.6.1.5.5.7.3.1"),
            _ => authority.Issue(null),
        };
        using var right = new SecureEnd(Trusting(authority, good));
        using var client = Client(right.At);
        Refused(Shake(client, right, bad, SslProtocols.Tls13), right);
        Assert.Contains(why, Assert.Single(right.Untrusted));
    }

    [Fact]
    public void A_dialler_refuses_an_acceptor_whose_certificate_is_not_accepted()
    {
        using var authority = new TestAuthority();
        using var stranger = new TestAuthority();
        using var good = authority.Issue("urn:ida:c:a");
        using var bad = stranger.Issue("urn:ida:c:b");
        using var left = new SecureEnd(Trusting(authority, good));
        using var right = new SecureEnd(Security.Certificates(new() { Own = () => bad, Authorities = () => [.. authority.Certificates, .. stranger.Certificates] }).Open("c")!);
        Refused(left, right);
        Assert.Contains("no known authority", Assert.Single(left.Untrusted));
    }

    [Fact]
    public void Nodes_of_one_authority_accept_each_other()
    {
        using var authority = new TestAuthority();
        using var one = authority.Issue("urn:ida:c:a");
        using var two = authority.Issue("urn:ida:c:b");
        using var left = new SecureEnd(Trusting(authority, one));
        using var right = new SecureEnd(Trusting(authority, two));
        var socket = SecurePortTests.Connect(left, right);
        Assert.Equal(new("urn:ida:c:b"), socket.Identity);
    }

    /// <summary>Only the acceptor refuses: the dialler has accepted its certificate, and is told.</summary>
    [Fact]
    public void A_dialler_that_the_acceptor_alone_refuses_does_not_get_in()
    {
        using var authority = new TestAuthority();
        using var stranger = new TestAuthority();
        using var good = authority.Issue("urn:ida:c:a");
        using var bad = stranger.Issue("urn:ida:c:b");
        using var left = new SecureEnd(Security.Certificates(new() { Own = () => bad, Authorities = () => authority.Certificates }).Open("c")!);
        using var right = new SecureEnd(Trusting(authority, good));
        Refused(left, right);
    }

    /// <summary>The authority itself signs no node's certificate, and the others know only it.</summary>
    [Fact]
    public void A_certificate_comes_with_those_between_it_and_its_authority()
    {
        using var authority = new TestAuthority();
        using var between = new TestAuthority(authority);
        using var one = between.Issue("urn:ida:c:a");
        using var two = authority.Issue("urn:ida:c:b");
        string[] files = [Path.GetTempFileName(), Path.GetTempFileName(), Path.GetTempFileName()];
        try
        {
            File.WriteAllText(files[0], $"{one.ExportCertificatePem()}\n{between.Certificates[0].ExportCertificatePem()}");
            File.WriteAllText(files[1], one.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem());
            File.WriteAllText(files[2], authority.Certificates[0].ExportCertificatePem());
            using var left = new SecureEnd(Security.CertificateFiles(files[0], files[1], files[2]).Open("c")!);
            using var right = new SecureEnd(Trusting(authority, two));
            SecurePortTests.Connect(left, right);
            Assert.Equal(new("urn:ida:c:a"), right.Accepted[0].Identity);
        }
        finally
        {
            Array.ForEach(files, File.Delete);
        }
    }

    /// <summary>Records that carry nothing for the user cost as much as others, or more, and a member may send as many as it likes: here updates of keys, each of which asks for one in return.</summary>
    [Fact]
    public void A_member_that_sends_records_of_nothing_is_cut_off()
    {
        Assert.SkipUnless(File.Exists("/usr/bin/openssl"), "skipped: there is no openssl");
        using var authority = new TestAuthority();
        using var good = authority.Issue("urn:ida:c:a");
        using var liar = authority.Issue("urn:ida:c:b");
        using var right = new SecureEnd(Trusting(authority, good));
        string file = Path.GetTempFileName();
        try
        {
            File.WriteAllText(file, $"{liar.ExportCertificatePem()}\n{liar.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem()}");
            using var client = Process.Start(new ProcessStartInfo("/usr/bin/openssl", ["s_client", "-connect", $"{right.At}", "-cert", file, "-key", file, "-alpn", "ida/1"])
            {
                RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
            })!;
            SecureEnd.Until(() => right.Accepted is [{ Identity: not null }], right);
            client.StandardInput.Write("x");
            client.StandardInput.Flush();
            SecureEnd.Until(() => right.Came.Length == 1, right);
            // A line of one letter is a command of the client, if it reads it alone.
            int sent = 0;
            for (; right.Ended == 0 && sent < 2000; sent++)
            {
                client.StandardInput.Write("K\n");
                client.StandardInput.Flush();
                right.Port.Wait(5_000_000);
                right.Port.Poll(right);
            }
            Assert.Equal(1, right.Ended);
            Assert.True(sent > 30);
            client.Kill();
            client.WaitForExit();
        }
        finally
        {
            File.Delete(file);
        }
    }

    /// <summary>A record costs the same whatever it carries, so the number of records counts too: a turn ends before all are read, and the next one goes on.</summary>
    [Fact]
    public void Many_records_of_a_byte_are_read_in_several_turns()
    {
        const int bytes = 2000, most = 100;
        string key = Security.NewClusterKey();
        using var right = new SecureEnd(Security.ClusterKey(key).Open("c")!);
        using var client = Client(right.At);
        using var own = SelfSigned();
        using var tls = Member(client, right, own, key);
        for (int i = 0; i < bytes; i++) tls.Write([(byte)i]);
        // One call of Receive for each report, as where there is little room.
        right.Once = true;
        while (right.Came.Length < bytes)
        {
            long before = right.Came.Length;
            right.Port.Wait(1_000_000);
            right.Port.Poll(right);
            Assert.InRange(right.Came.Length - before, 0, most);
        }
    }

    /// <summary>The buffer of half a record counts: a crowd could hold as many of them as it has connections.</summary>
    [Fact]
    public void Half_a_record_is_held_in_a_small_buffer_that_is_told()
    {
        string key = Security.NewClusterKey();
        using var right = new SecureEnd(Security.ClusterKey(key).Open("c")!);
        using var client = Client(right.At);
        using var own = SelfSigned();
        using var tls = Member(client, right, own, key);
        Assert.Equal(0, right.Port.Held(right.Accepted[0]));
        client.Client.Send([23, 3, 3, 0x40, 0, 1, 2, 3]);
        SecureEnd.Until(() => right.Port.Held(right.Accepted[0]) > 0, right);
        Assert.Equal(LinkLimits.StrangerBytes, right.Port.Held(right.Accepted[0]));
    }

    [Fact]
    public void A_client_without_a_certificate_is_refused()
    {
        using var right = Keyed();
        using var client = Client(right.At);
        Refused(Shake(client, right, null, SslProtocols.Tls13), right);
        Assert.NotEmpty(Assert.Single(right.Untrusted));
    }

    [Fact]
    public void An_older_TLS_is_refused()
    {
        using var right = Keyed();
        using var client = Client(right.At);
        using var own = SelfSigned();
        Refused(Shake(client, right, own, SslProtocols.Tls12), right);
        Assert.NotEmpty(Assert.Single(right.Untrusted));
    }

    /// <summary>Sends the acceptor's own proof back to it.</summary>
    [Fact]
    public void A_reflected_proof_is_refused()
    {
        using var right = Keyed(out byte[] id);
        using var client = Client(right.At);
        using var own = SelfSigned();
        using var tls = Shake(client, right, own, SslProtocols.Tls13);
        byte[] question = new byte[KeyProof.QuestionBytes], answer = new byte[KeyProof.AnswerBytes];
        id.CopyTo(question, KeyProof.NonceBytes);
        tls.Write(question);
        Wait(tls.ReadExactlyAsync(answer).AsTask(), right);
        tls.Write(answer.AsSpan(KeyProof.NonceBytes + KeyProof.IdBytes));
        SecureEnd.Until(() => right.Untrusted.Count == 1, right);
        Assert.Contains("does not prove", right.Untrusted[0]);
        Assert.Equal(0, right.Came.Length);
    }

    /// <summary>Somebody who had the key once has kept what it said then, and says it again with the same certificate.</summary>
    [Fact]
    public void A_replayed_proof_is_refused()
    {
        string key = Security.NewClusterKey();
        byte[] secret = Convert.FromBase64String(key), question = new byte[KeyProof.QuestionBytes], proof = new byte[KeyProof.ProofBytes];
        using var right = new SecureEnd(Security.ClusterKey(key).Open("c")!);
        using var own = SelfSigned();
        KeyProof.WriteId(secret, question.AsSpan(KeyProof.NonceBytes));
        for (int time = 0; time < 2; time++)
        {
            using var client = Client(right.At);
            using var tls = Shake(client, right, own, SslProtocols.Tls13);
            byte[] answer = new byte[KeyProof.AnswerBytes];
            tls.Write(question);
            Wait(tls.ReadExactlyAsync(answer).AsTask(), right);
            if (time == 0) KeyProof.Write(secret, ofDialler: true, KeyProof.Binding("c", own.RawData, tls.RemoteCertificate!.GetRawCertData()), question.AsSpan(0, KeyProof.NonceBytes), answer.AsSpan(0, KeyProof.NonceBytes), proof);
            tls.Write(proof);
            byte[] word = new byte[1];
            Wait(tls.ReadExactlyAsync(word).AsTask(), right);
            Assert.Equal(time == 0 ? 1 : 0, word[0]);
        }
        Assert.Contains("does not prove", Assert.Single(right.Untrusted));
    }

    /// <summary>Stands between two nodes of the cluster, ends the TLS of each with a certificate of its own, and hands on all that they say.</summary>
    [Fact]
    public void A_man_in_the_middle_is_refused_by_both_ends()
    {
        var security = Security.ClusterKey(Security.NewClusterKey());
        using var left = new SecureEnd(security.Open("c")!);
        using var right = new SecureEnd(security.Open("c")!);
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var own = SelfSigned();
        left.Dial((IPEndPoint)listener.LocalEndpoint);
        SecureEnd.Until(listener.Pending, left);
        using var towardsLeft = listener.AcceptTcpClient();
        using var towardsRight = Client(right.At);
        using var server = new SslStream(towardsLeft.GetStream(), false, static (_, _, _, _) => true);
        Wait(server.AuthenticateAsServerAsync(new SslServerAuthenticationOptions { ServerCertificate = own, ClientCertificateRequired = true, EnabledSslProtocols = SslProtocols.Tls13, ApplicationProtocols = [s_protocol] }), left, right);
        using var client = Shake(towardsRight, right, own, SslProtocols.Tls13);
        byte[] question = new byte[KeyProof.QuestionBytes], answer = new byte[KeyProof.AnswerBytes];
        Wait(server.ReadExactlyAsync(question).AsTask(), left, right);
        client.Write(question);
        Wait(client.ReadExactlyAsync(answer).AsTask(), left, right);
        server.Write(answer);
        SecureEnd.Until(() => left.Untrusted.Count == 1, left, right);
        Assert.Equal([DialResult.Untrusted], left.Dialled);
        Assert.Contains("does not prove", left.Untrusted[0]);
        client.Write(new byte[KeyProof.ProofBytes]);
        SecureEnd.Until(() => right.Untrusted.Count == 1, left, right);
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\n\r\n"), InlineData("\u0016\u0003\u0001\u00ff\u00ff"), InlineData("\u0016\u0003\u0001\0\u0005hello")]
    public void What_is_no_TLS_is_refused(string bytes)
    {
        using var right = Keyed();
        using var client = Client(right.At);
        client.Client.Send([.. bytes.Select(static c => (byte)c)]);
        SecureEnd.Until(() => right.Ended == 1, right);
        Assert.Single(right.Untrusted);
        Assert.Equal(0, right.Came.Length);
    }

    /// <summary>A connection that sends without end before it has said who it is is closed, though nobody looks at what it sends.</summary>
    [Fact]
    public void A_flood_before_the_handshake_is_cut_off()
    {
        using var right = new SecureEnd(Security.ClusterKey(Security.NewClusterKey()).Open("c")!, handshakes: new NoHandshakes());
        using var client = Client(right.At);
        byte[] record = new byte[RecordStream.MostBytes - 300];
        (record[0], record[1], record[2], record[3], record[4]) = (22, 3, 1, (byte)((record.Length - 5) >> 8), (byte)(record.Length - 5));
        client.Client.Blocking = false;
        SecureEnd.Until(
            () =>
            {
                try
                {
                    client.Client.Send(record);
                }
                catch (SocketException)
                {
                    // The other end reads slowly, or has closed.
                }
                return right.Ended == 1;
            },
            right);
        Assert.Contains("too much", Assert.Single(right.Untrusted));
    }

    /// <summary>A program that looks whether the port is open, and one that says too little, cost nothing on the thread that shakes hands.</summary>
    [Theory]
    [InlineData(new byte[] { }), InlineData(new byte[] { 22, 3, 1, 0, 9 })]
    public void A_connection_that_ends_before_its_first_record_begins_no_handshake(byte[] said)
    {
        var stuck = new NoHandshakes();
        using var right = new SecureEnd(Security.ClusterKey(Security.NewClusterKey()).Open("c")!, handshakes: stuck);
        using var client = Client(right.At);
        client.Client.Send(said);
        client.Client.Shutdown(SocketShutdown.Send);
        SecureEnd.Until(() => right.Ended == 1, right);
        Assert.Equal(0, stuck.Posted);
        Assert.Empty(right.Untrusted);
    }

    /// <summary>The thread that shakes hands is busy, and a stranger has finished already: its end is told once and does not keep the loop awake.</summary>
    [Theory, MemberData(nameof(SecurePortTests.Kinds), MemberType = typeof(SecurePortTests))]
    public void An_end_in_mid_handshake_does_not_keep_the_loop_awake(string kind)
    {
        var stuck = new NoHandshakes();
        using var right = new SecureEnd(Security.ClusterKey(Security.NewClusterKey()).Open("c")!, kind, handshakes: stuck);
        using var client = Client(right.At);
        client.Client.Send([22, 3, 1, 0, 1, 7]);
        client.Client.Shutdown(SocketShutdown.Send);
        SecureEnd.Until(() => right.Accepted.Count == 1, right);
        for (int i = 0; i < 20; i++)
        {
            right.Port.Wait(1_000_000);
            right.Port.Poll(right);
        }
        Assert.False(right.Port.HasNews);
        Assert.Equal(1, stuck.Posted);
    }

    /// <summary>One bit of what an accepted node sent is changed on the way: the connection ends, and nothing of that record is delivered.</summary>
    [Fact]
    public void A_record_that_was_changed_on_the_way_ends_the_connection()
    {
        var security = Security.ClusterKey(Security.NewClusterKey());
        using var left = new SecureEnd(security.Open("c")!);
        using var right = new SecureEnd(security.Open("c")!);
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var socket = left.Dial((IPEndPoint)listener.LocalEndpoint);
        SecureEnd.Until(listener.Pending, left);
        using var towardsLeft = listener.AcceptTcpClient();
        using var towardsRight = Client(right.At);
        SecureEnd.Until(
            () =>
            {
                Pass(towardsLeft, towardsRight, flip: false);
                Pass(towardsRight, towardsLeft, flip: false);
                return left.Dialled.Count == 1 && right.Accepted is [{ Identity: not null }];
            },
            left,
            right);
        byte[] bytes = GC.AllocateArray<byte>(1000, pinned: true);
        Assert.Equal(1000, left.SendOnce(socket, bytes));
        SecureEnd.Until(() => Pass(towardsLeft, towardsRight, flip: true), left);
        SecureEnd.Until(() => right.Ended == 1, right);
        Assert.Equal(0, right.Came.Length);
    }

    // TLS and the proof of the key, as a node does it; afterwards the caller sends what it likes.
    private static SslStream Member(TcpClient client, SecureEnd right, X509Certificate2 own, string key)
    {
        var tls = Shake(client, right, own, SslProtocols.Tls13);
        var proof = new ProofExchange(tls, "c", dials: true);
        Wait(proof.RunAsync(ClusterKeys.Read(key, "key"), own.RawData, tls.RemoteCertificate!.GetRawCertData()), right);
        Wait(proof.AcceptAsync(), right);
        SecureEnd.Until(() => right.Accepted is [{ Identity: not null }], right);
        return tls;
    }

    private static bool Pass(TcpClient from, TcpClient to, bool flip)
    {
        if (from.Available == 0) return false;
        byte[] bytes = new byte[from.Available];
        from.GetStream().ReadExactly(bytes);
        if (flip) bytes[^40] ^= 1;
        to.GetStream().Write(bytes);
        return true;
    }

    private static void Refused(SecureEnd left, SecureEnd right)
    {
        left.Dial(right.At);
        SecureEnd.Until(() => left.Dialled.Count == 1 && right.Ended == 1, left, right);
        Assert.NotEqual(DialResult.Connected, left.Dialled[0]);
        Assert.Equal((0, 0), (left.Came.Length, right.Came.Length));
    }

    private static SecureEnd Keyed() => Keyed(out _);

    private static SecureEnd Keyed(out byte[] id)
    {
        string key = Security.NewClusterKey();
        id = new byte[KeyProof.IdBytes];
        KeyProof.WriteId(Convert.FromBase64String(key), id);
        return new(Security.ClusterKey(key).Open("c")!);
    }

    private static NodeCredentials Trusting(TestAuthority authority, X509Certificate2 own) =>
        Security.Certificates(new() { Own = () => own, Authorities = () => authority.Certificates }).Open("c")!;

    private static TcpClient Client(IPEndPoint to)
    {
        var client = new TcpClient();
        client.Connect(to);
        return client;
    }

    private static X509Certificate2 SelfSigned()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        return new CertificateRequest("CN=x", key, HashAlgorithmName.SHA256).CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
    }

    /// <summary>TLS from a client that is no node. The refusal of a client's certificate shows at its first read.</summary>
    private static SslStream Shake(TcpClient client, SecureEnd right, X509Certificate2? own, SslProtocols protocols)
    {
        var tls = new SslStream(client.GetStream(), false, static (_, _, _, _) => true);
        var options = new SslClientAuthenticationOptions { TargetHost = "ida", EnabledSslProtocols = protocols, ApplicationProtocols = [s_protocol] };
        if (own is not null) options.ClientCertificates = [own];
        try
        {
            Wait(tls.AuthenticateAsClientAsync(options), right);
        }
        catch (Exception error) when (error is AuthenticationException or IOException)
        {
            // The other end refuses it already.
        }
        return tls;
    }

    // The end of a client's handshake does not say yet whether the other end accepts it.
    private static void Refused(SslStream tls, SecureEnd right)
    {
        using (tls) SecureEnd.Until(() => right.Untrusted.Count > 0 && right.Ended == 1, right);
        Assert.Equal(0, right.Came.Length);
    }

    private static void Wait(Task task, params SecureEnd[] ends)
    {
        SecureEnd.Until(() => task.IsCompleted, ends);
        task.GetAwaiter().GetResult();
    }

    // A thread that does not come to it.
    private sealed class NoHandshakes : IHandshakes
    {
        public int Posted { get; private set; }

        public void Post(Handshake handshake) => Posted++;

        public bool TryTakeBack(Handshake handshake) => true;

        public void Dispose()
        {
        }
    }
}
