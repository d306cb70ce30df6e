using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Secure;

namespace Ida.Scenarios;

/// <summary>
/// Carries connections of a peer that speaks no TLS to nodes with credentials: each is a TLS connection under these credentials, with the proof of the cluster key. What the peer writes reaches the node
/// as it is, and if one end breaks off, so does the other.
/// </summary>
internal sealed class TlsTunnel : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly NodeCredentials _credentials;
    private readonly string _cluster;
    private volatile string _target = "";

    public TlsTunnel(NodeCredentials credentials, string cluster)
    {
        (_credentials, _cluster) = (credentials, cluster);
        _listener.Start();
        Address = EndPointText.Format((IPEndPoint)_listener.LocalEndpoint);
        _ = AcceptAsync();
    }

    public NodeAddress Address { get; }

    /// <summary>The node to which the next connection goes; returns where to dial for it.</summary>
    public NodeAddress To(NodeAddress node)
    {
        _target = node.Text;
        return Address;
    }

    public void Dispose() => _listener.Dispose();

    private async Task AcceptAsync()
    {
        try
        {
            while (true) _ = CarryAsync(await _listener.AcceptSocketAsync());
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // The peer is done.
        }
    }

    private async Task CarryAsync(Socket peer)
    {
        using var node = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using (peer)
        {
            try
            {
                peer.NoDelay = true;
                await node.ConnectAsync(EndPointText.Parse(_target, nameof(_target)));
                await using var tls = new SslStream(new NetworkStream(node));
                await BeginAsync(tls);
                await using var plain = new NetworkStream(peer);
                Task there = plain.CopyToAsync(tls), back = tls.CopyToAsync(plain);
                await Task.WhenAny(there, back);
                foreach (var copy in (Task[])[there, back]) _ = copy.ContinueWith(static ended => ended.Exception, TaskScheduler.Default);
            }
            catch (Exception error) when (error is SocketException or IOException or AuthenticationException or ObjectDisposedException)
            {
                // The node does not take it, or one end broke off: both ends are closed.
            }
        }
    }

    private async Task BeginAsync(SslStream tls)
    {
        var own = _credentials.Own();
        await tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "ida",
            EnabledSslProtocols = SslProtocols.Tls13,
            ApplicationProtocols = [new("ida/1")],
            ClientCertificateContext = own,
            CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
            // The nodes' keys are of their own making; the proof says who has the cluster key.
            RemoteCertificateValidationCallback = static (_, certificate, _, _) => certificate is not null,
        });
        var proof = new ProofExchange(tls, _cluster, dials: true);
        await proof.RunAsync(_credentials.Keys!, own.TargetCertificate.RawData, tls.RemoteCertificate!.GetRawCertData());
        await proof.AcceptAsync();
    }
}
