using GroupCore.Runtime;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Mesh;

/// <summary>One connection of a <see cref="TcpMesh"/>: which end dialled it, how far its handshake is, and its receive buffer.</summary>
internal sealed class TcpConnection(TcpMesh mesh, PortSocket socket, ConnectionKind kind, LinkPeer? peer) : ITimerTarget
{
    public PortSocket Socket => socket;

    public ConnectionKind Kind => kind;

    public ConnectionState State { get; private set; } = kind == ConnectionKind.Accepted ? ConnectionState.AwaitHello : ConnectionState.Connecting;

    /// <summary>The peer it belongs to; null until an acceptor has read the Hello.</summary>
    public LinkPeer? Peer { get; set; } = peer;

    /// <summary>The peer that dialled in under the id of the node that answered here, while that node is asked whether it is that peer.</summary>
    public LinkPeer? Rival { get; set; }

    /// <summary>Whether this end, the acceptor, waits for the dialler to say who it is: nothing is known of the other end.</summary>
    public bool AwaitsHello => State is ConnectionState.AwaitHello or ConnectionState.AwaitFullHello;

    /// <summary>Whether this end, the dialler, waits for the answer to its Hello.</summary>
    public bool AwaitsAck => State is ConnectionState.AwaitAck or ConnectionState.AwaitFullAck;

    /// <summary>Whether a node answered this dialler's Hello.</summary>
    public bool WasAnswered { get; set; }

    /// <summary>Timer of the end of the time for connecting and the handshake.</summary>
    public TimerHandle Deadline { get; set; }

    /// <summary>Hello or HelloAck bytes that the socket has not taken yet.</summary>
    public ArraySegment<byte> Control { get; set; }

    /// <summary>Whether the socket takes no more for now.</summary>
    public bool IsBlocked { get; set; }

    /// <summary>When its session came up.</summary>
    public long UpAt { get; set; }

    /// <summary>The receive buffer; between turns it exists only while it holds the beginning of a frame.</summary>
    public Slab? Input { get; set; }

    /// <summary>Whether frames in <see cref="Input"/> wait until their link is no longer held.</summary>
    public bool IsBehind { get; set; }

    /// <summary>Bytes of <see cref="Input"/> that count towards the limit of all strangers.</summary>
    public int StrangersInput { get; set; }

    /// <summary>Bytes received and not consumed: from here …</summary>
    public int Start { get; set; }

    /// <summary>… to here.</summary>
    public int End { get; set; }

    public void Become(ConnectionState next, NodeCounters counters)
    {
        if (LinkPhases.MayFollow(State, next)) State = next;
        else counters.Forbid($"Connection: {next} after {State}.");
    }

    public void OnTimer(long token) => mesh.OnDeadline(this);
}
