using System.Net;
using GroupCore.Runtime;
using GroupCore.Transport.Credentials;

namespace GroupCore.Transport.Mesh;

/// <summary>What a <see cref="TcpMesh"/> keeps of one peer.</summary>
internal sealed class LinkPeer(TcpMesh mesh, LinkSession session, NodeAddress address, IPEndPoint endPoint) : ITimerTarget
{
    public int Number => session.Peer;

    public LinkSession Session => session;

    /// <summary>The address at which this node asked for the peer, or else the one at which the peer says that it listens.</summary>
    public NodeAddress Address { get; private set; } = address;

    public IPEndPoint EndPoint { get; private set; } = endPoint;

    /// <summary>The id that the peer has shown or must show; 0 while any node that answers is meant.</summary>
    public ulong NodeId { get; set; }

    /// <summary>The id for which this link was opened while a guest under that id says that it listens elsewhere; 0 for any id.</summary>
    public ulong MeantId { get; set; }

    /// <summary>For a guest: the link that was opened for its id at another address than the one at which the guest says that it listens.</summary>
    public LinkPeer? Beside { get; set; }

    /// <summary>Whether it has shown its id.</summary>
    public bool IsKnown { get; set; }

    /// <summary>This end's name of the session.</summary>
    public ulong Token { get; set; }

    /// <summary>The other end's name of the session, 0 before the first handshake.</summary>
    public ulong PeerToken { get; set; }

    /// <summary>The connection that carries the session.</summary>
    public TcpConnection? Connection { get; set; }

    /// <summary>The connection being dialled for it.</summary>
    public TcpConnection? Dialling { get; set; }

    /// <summary>The connection of a probe.</summary>
    public TcpConnection? Probing { get; set; }

    /// <summary>The connection that asks the node at the peer's address whether it is the one that dialled in.</summary>
    public TcpConnection? Confirming { get; set; }

    /// <summary>Whether no node answered that could have confirmed the peer. Then the node that dialled in is believed, and recognised by both ends' names of the session.</summary>
    public bool IsUnanswered { get; set; }

    /// <summary>Until when the peer is held because there is no descriptor with which to ask who dialled in; 0 when it is not held for this.</summary>
    public long AskBefore { get; set; }

    /// <summary>Whether nothing is sent, and no frame that arrives is delivered, until the peer is confirmed or no node answers that could confirm it.</summary>
    public bool IsHeld => (Confirming is not null || AskBefore != 0) && !IsUnanswered && !IsConfirmed && !IsProven;

    /// <summary>Whether the node that listens at the address that was asked for is known to have this session.</summary>
    public bool IsConfirmed { get; set; }

    /// <summary>Who it has shown to be, by its credentials; null without any. Its id is its own then, whether or not it can be reached at an address.</summary>
    public NodeIdentity? Identity { get; set; }

    /// <summary>Whether its id is proven to be its own.</summary>
    public bool IsProven => Identity is not null;

    /// <summary>Under which number its malformed frames are counted: one for each identity, since a node with credentials may have many ids.</summary>
    public ulong Culprit => Identity?.IdOf(0) ?? NodeId;

    /// <summary>Whether a node that dialled in under this id has turned out to be another. From then on a node that dials in under it does not stop this node's dial.</summary>
    public bool IsDisputed { get; set; }

    /// <summary>
    /// Whether this node asked for the peer, knows the other end only by the word of a node that dialled in, has sent nothing to that node and has delivered none of
    /// its frames. If that node is not the peer, nothing is lost, and the link goes on without it. Delivered frames cannot be taken back: once frames of one session
    /// came under a number, the number goes on with another session only after a fault that says so.
    /// </summary>
    public bool IsUntouched => IsOpened && !IsConfirmed && !session.HasSent && session.Received == 0;

    /// <summary>Whether its host answered the last dial that nobody listens there: then any node may come under its id.</summary>
    public bool IsVacant { get; set; }

    /// <summary>Since when no node has answered a dial of its address; <see cref="long.MaxValue"/> when the last dial was answered, or the peer is connected.</summary>
    public long SilentSince { get; set; } = long.MaxValue;

    /// <summary>Whether this node asks for the peer. A peer that only dialled in is not dialled, and is forgotten when it stays away.</summary>
    public bool IsOpened { get; set; }

    /// <summary>Calls of <see cref="ILinks.Hold"/> without their <see cref="ILinks.Release"/>.</summary>
    public int Holds { get; set; }

    /// <summary>Its index among the guests, the peers that this node does not ask for; -1 when it is not a guest.</summary>
    public int Place { get; set; } = -1;

    /// <summary>When bytes of frames last came from it, or its connection came up.</summary>
    public long HeardAt { get; set; }

    /// <summary>Until when it is vouched for (<see cref="ILinks.Vouch"/>).</summary>
    public long VouchedUntil { get; set; } = long.MinValue;

    public LinkPhase Phase { get; private set; }

    /// <summary>Whether the link is over.</summary>
    public bool IsOver => Phase == LinkPhase.Ended;

    /// <summary>
    /// Selects the pause before the next dial: counts failed dials since the link was up, or short-lived connections that nobody needed. For a guest 0 means that
    /// no dial is due.
    /// </summary>
    public int Attempt { get; set; }

    /// <summary>Connections in succession, the last one included, that broke soon after they came up while nobody needed them.</summary>
    public int ShortLived { get; set; }

    /// <summary>Timer of the next dial, of the next question whether the peer is who it says it is, or of the end of the time in which it may come back.</summary>
    public TimerHandle Redial { get; set; }

    /// <summary>No dial before this time, whoever asks for the peer, since it sent bytes that nobody can read.</summary>
    public long NoDialBefore { get; set; }

    /// <summary>When observers were last told of a failed dial.</summary>
    public long ReportedAt { get; set; } = long.MinValue;

    /// <summary>Whether it stands in the list of peers with output.</summary>
    public bool IsDirty { get; set; }

    /// <summary>Whether it stands in the queue of acknowledgements to come.</summary>
    public bool IsAckQueued { get; set; }

    /// <summary>The addresses under which it is found.</summary>
    public List<NodeAddress> Reached { get; } = [];

    /// <summary>Other numbers of the same node, opened by another spelling of its address.</summary>
    public List<int> Aliases { get; } = [];

    public void Become(LinkPhase next, NodeCounters counters)
    {
        if (LinkPhases.MayFollow(Phase, next)) Phase = next;
        else counters.Forbid($"Link {Number}: {next} after {Phase}.");
    }

    public void ListensAt(NodeAddress asked, IPEndPoint at) => (Address, EndPoint) = (asked, at);

    public void OnTimer(long token) => mesh.OnRedial(this);
}
