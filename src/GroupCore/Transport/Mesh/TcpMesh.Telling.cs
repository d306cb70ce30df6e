using System.Net;
using GroupCore.Diagnostics;

namespace GroupCore.Transport.Mesh;

/// <content>What the log hears of refused connections: anybody may try as often as they like, so at most one line a second. All are counted.</content>
internal sealed partial class TcpMesh
{
    private const long TellEvery = 1_000_000_000;
    private long _toldAt = long.MinValue / 2;

    private void TellRefused(IPEndPoint listen, string status)
    {
        if (!_node.Log.IsOn || _node.Now - _toldAt < TellEvery) return;
        _toldAt = _node.Now;
        _node.Log.HandshakeRefused(EndPointText.Format(listen).Text, status);
    }
}
