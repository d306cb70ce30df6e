using System.Net;
using GroupCore.Diagnostics;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Mesh;

/// <content>
/// Tells the log of connections that are refused here or at the other end, and of peers that are muted. Anybody may try as often as they like, so each kind gets at
/// most one line a second. All are counted.
/// </content>
internal sealed partial class TcpMesh
{
    private const long TellEvery = 1_000_000_000;
    private long _refusedToldAt = long.MinValue / 2;
    private long _untrustedToldAt = long.MinValue / 2;
    private long _credentialsToldAt = long.MinValue / 2;
    private long _mutedToldAt = long.MinValue / 2;
    private long _versionToldAt = long.MinValue / 2;

    private void TellRefused(IPEndPoint listen, string status)
    {
        if (MayTell(ref _refusedToldAt)) _node.Log.HandshakeRefused(EndPointText.Format(listen).Text, status);
    }

    private void TellUntrusted(PortSocket socket, string why)
    {
        if (MayTell(ref _untrustedToldAt)) _node.Log.PeerUntrusted(_port.RemoteOf(socket) is { } from ? EndPointText.Format(from).Text : "an unknown address", why);
    }

    private void TellCredentials(string what)
    {
        if (MayTell(ref _credentialsToldAt)) _node.Log.CredentialsFailed(what);
    }

    private void TellRefusedVersion(in HelloFrame hello, IPEndPoint listen)
    {
        if (!MayTell(ref _refusedToldAt)) return;
        string versions = hello.MinVersion == hello.MaxVersion ? $"version {hello.MinVersion}" : $"versions {hello.MinVersion} to {hello.MaxVersion}";
        _node.Log.HandshakeRefused(EndPointText.Format(listen).Text, $"it speaks wire {versions}; this node speaks version {HelloFrame.Version}");
    }

    private void TellVersion(NodeAddress peer, byte version)
    {
        if (MayTell(ref _versionToldAt)) _node.Log.WireVersionDiffers(peer.ToString(), version, HelloFrame.Version);
    }

    private void TellMuted(NodeAddress peer)
    {
        if (MayTell(ref _mutedToldAt)) _node.Log.PeerMuted(peer.ToString());
    }

    private bool MayTell(ref long toldAt)
    {
        if (!_node.Log.IsOn || _node.Now - toldAt < TellEvery) return false;
        toldAt = _node.Now;
        return true;
    }
}
