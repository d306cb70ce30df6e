using System.Runtime.InteropServices;

namespace GroupCore.Transport.Mesh;

/// <content>Writing at the end of a turn.</content>
internal sealed partial class TcpMesh
{
    private const long TurnWriteBytes = 1 << 20;

    // For all links together, since probes are answered and leases asked for only between turns.
    private const long AllTurnWriteBytes = 16 << 20;
    private readonly ArraySegment<byte>[] _pieces = new ArraySegment<byte>[LinkSession.MaxPieces];
    private List<LinkPeer> _dirty = [];
    private List<LinkPeer> _writing = [];

    /// <summary>Makes one gathered write per peer with output, and more only for what does not fit into one.</summary>
    public void Flush()
    {
        (_dirty, _writing) = (_writing, _dirty);
        int next = 0;
        for (long left = AllTurnWriteBytes; next < _writing.Count && left > 0; next++)
        {
            var peer = _writing[next];
            peer.IsDirty = false;
            if (peer is { Connection: { IsBlocked: false } connection, IsHeld: false }) left -= Write(connection, peer);
        }
        // Links that were not written in this turn come first in the next one.
        _dirty.InsertRange(0, CollectionsMarshal.AsSpan(_writing)[next..]);
        _writing.Clear();
        ReleaseDropped();
    }

    private void Queued(LinkPeer peer)
    {
        if (peer.Session.Overflowed) Fail(peer, LinkFault.Overflow);
        else MarkDirty(peer);
    }

    private void MarkDirty(LinkPeer peer)
    {
        if (peer.IsDirty || peer is not { Connection.IsBlocked: false, IsHeld: false }) return;
        peer.IsDirty = true;
        _dirty.Add(peer);
    }

    // Returns how much the socket took.
    private long Write(TcpConnection connection, LinkPeer peer)
    {
        var session = peer.Session;
        long written = 0;
        while (written < TurnWriteBytes)
        {
            int count = session.Gather(_pieces, _node.Now), total = 0;
            if (count == 0) break;
            for (int i = 0; i < count; i++) total += _pieces[i].Count;
            int sent = _port.Send(connection.Socket, _pieces.AsSpan(0, count));
            if (sent < 0)
            {
                Broken(connection, 0);
                return written;
            }
            session.Written(sent, _node.Now);
            written += sent;
            if (sent == total) continue;
            connection.IsBlocked = true;
            return written;
        }
        if (session.HasOutput(_node.Now)) MarkDirty(peer);
        else QueueAck(peer);
        return written;
    }

    private void SendControl(TcpConnection connection)
    {
        _pieces[0] = connection.Control;
        int sent = _port.Send(connection.Socket, _pieces.AsSpan(0, 1));
        if (sent < 0)
        {
            Ended(connection);
            return;
        }
        connection.Control = connection.Control[sent..];
        connection.IsBlocked = connection.Control.Count > 0;
        if (connection is { State: ConnectionState.Closing, IsBlocked: false }) Drop(connection);
    }
}
