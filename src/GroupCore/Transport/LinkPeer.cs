using System.Net;
using GroupCore.Runtime;

namespace GroupCore.Transport;

/// <summary>What a <see cref="TcpMesh"/> keeps of one peer.</summary>
internal sealed class LinkPeer(TcpMesh mesh, LinkSession session, NodeAddress address, IPEndPoint endPoint) : ITimerTarget
{
    public int Number => session.Peer;

    public LinkSession Session => session;

    /// <summary>Where this node asked for it, or else where it says that it listens.</summary>
    public NodeAddress Address { get; private set; } = address;

    public IPEndPoint EndPoint { get; private set; } = endPoint;

    /// <summary>The id it has shown or must show; 0 while whoever answers is meant.</summary>
    public ulong NodeId { get; set; }

    /// <summary>Whom this node asked for where one that says it listens elsewhere dialled in under that id; 0 for anybody.</summary>
    public ulong MeantId { get; set; }

    /// <summary>The link by which the node was asked for elsewhere than where this guest, which dialled in under its id, says that it listens.</summary>
    public LinkPeer? Beside { get; set; }

    /// <summary>Whether it has shown its id.</summary>
    public bool IsKnown { get; set; }

    /// <summary>Own name of the session.</summary>
    public ulong Token { get; set; }

    /// <summary>The other end's name of the session, 0 before the first handshake.</summary>
    public ulong PeerToken { get; set; }

    /// <summary>The connection that carries the session.</summary>
    public TcpConnection? Connection { get; set; }

    /// <summary>The connection being dialled for it.</summary>
    public TcpConnection? Dialling { get; set; }

    /// <summary>The connection of a probe.</summary>
    public TcpConnection? Probing { get; set; }

    /// <summary>The connection that is to confirm who dialled in.</summary>
    public TcpConnection? Confirming { get; set; }

    /// <summary>Whether nobody answered who could have confirmed it: whoever knows the names of both ends is the one that was believed then.</summary>
    public bool IsUnanswered { get; set; }

    /// <summary>Until when it is held although there is no descriptor to ask who dialled in; 0 where that is not so.</summary>
    public long AskBefore { get; set; }

    /// <summary>Whether nothing is sent, and nothing of what comes is delivered, until it is confirmed.</summary>
    public bool IsHeld => (Confirming is not null || AskBefore != 0) && !IsUnanswered && !IsConfirmed;

    /// <summary>Whether who listens at the address that was asked for is known to have this session.</summary>
    public bool IsConfirmed { get; set; }

    /// <summary>Whether one that came in its name has turned out not to be it: from then on whoever comes does not stop a dial.</summary>
    public bool IsDisputed { get; set; }

    /// <summary>
    /// Whether this node asked for it, and all that is known of the other end is what one that dialled in has said, to whom nothing was sent and of
    /// whom no frame was delivered: if that one is not it, nothing is lost, and the link goes on without it. What was delivered cannot be taken
    /// back: a number under which frames of one session came does not go on with another without a fault that says so.
    /// </summary>
    public bool IsUntouched => IsOpened && !IsConfirmed && !session.HasSent && session.Received == 0;

    /// <summary>Whether its host said at the last dial that nobody listens there: then its name is anybody's.</summary>
    public bool IsVacant { get; set; }

    /// <summary>Since when no node has answered a dial of its address; <see cref="long.MaxValue"/> when the last one was answered, or it is connected.</summary>
    public long SilentSince { get; set; } = long.MaxValue;

    /// <summary>Whether this node asked for the peer; one that only dialled in is not dialled, and forgotten when it stays away.</summary>
    public bool IsOpened { get; set; }

    /// <summary>How often it is held.</summary>
    public int Holds { get; set; }

    /// <summary>Where it stands among the guests: those that this node does not ask for; -1 when it is none.</summary>
    public int Place { get; set; } = -1;

    /// <summary>When bytes of frames last came from it, or its connection came up.</summary>
    public long HeardAt { get; set; }

    /// <summary>Until when somebody has vouched for it.</summary>
    public long VouchedUntil { get; set; } = long.MinValue;

    public LinkPhase Phase { get; private set; }

    /// <summary>Whether the link is over.</summary>
    public bool IsOver => Phase == LinkPhase.Ended;

    /// <summary>Failed dials since the link was up, and connections that broke soon when nobody needed them; 0 then where no dial is due.</summary>
    public int Attempt { get; set; }

    /// <summary>Connections in succession, up to now, that broke soon after they came up when nobody needed them.</summary>
    public int ShortLived { get; set; }

    /// <summary>Next dial, the next question whether it is who it says, or the end of the time in which it may come back.</summary>
    public TimerHandle Redial { get; set; }

    /// <summary>Before when it is not dialled, whoever asks for it: it sent what nobody can read.</summary>
    public long NoDialBefore { get; set; }

    /// <summary>When a failed dial was last reported.</summary>
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
