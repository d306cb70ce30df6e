using GroupCore.Runtime;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport;

/// <summary>One connection of a <see cref="TcpMesh"/>: who dialled it and how far its handshake is, and its receive buffer.</summary>
internal sealed class TcpConnection(TcpMesh mesh, PortSocket socket, ConnectionState state, LinkPeer? peer) : ITimerTarget
{
    public PortSocket Socket => socket;

    public ConnectionState State { get; set; } = state;

    /// <summary>The peer it belongs to; null until an acceptor has read the Hello.</summary>
    public LinkPeer? Peer { get; set; } = peer;

    /// <summary>Whether it was dialled only to see who is there.</summary>
    public bool IsProbe { get; init; }

    /// <summary>Whether this node dialled it.</summary>
    public bool IsDialled { get; init; }

    /// <summary>The dialler asked for the id already: the next Hello must be a full one.</summary>
    public bool IsIdentified { get; set; }

    /// <summary>End of the time for connecting and the handshake.</summary>
    public TimerHandle Deadline { get; set; }

    /// <summary>Hello or HelloAck bytes that the socket has not taken yet.</summary>
    public ArraySegment<byte> Control { get; set; }

    /// <summary>Whether the socket takes no more for now.</summary>
    public bool IsBlocked { get; set; }

    public Slab? Input { get; set; }

    /// <summary>Bytes received and not consumed: from here …</summary>
    public int Start { get; set; }

    /// <summary>… to here.</summary>
    public int End { get; set; }

    public void OnTimer(long token) => mesh.OnDeadline(this);
}
