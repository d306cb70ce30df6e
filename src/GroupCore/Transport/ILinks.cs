using GroupCore.Transport.Credentials;

namespace GroupCore.Transport;

/// <summary>
/// Reliable FIFO links to other nodes, by dense peer number. A link outlives its connection: after a break it is dialled again and
/// resumes where the receiver left off, so a frame is delivered exactly once and in order while both ends live and neither closes the link.
/// </summary>
/// <remarks>
/// Sending never blocks and never fails: frames wait in the link's queue. A producer of bulk (values, state, users' messages) asks for
/// <see cref="Room"/> first and waits if there is none; control frames do not ask. So bulk never delays control for long, and the queue stays far
/// from <see cref="LinkLimits.QueueBytes"/>. Above that limit the link ends with <see cref="LinkFault.Overflow"/>: its users at both ends hear
/// that frames are lost, and frames sent to its number from then on go nowhere. For a stranger, a peer that only dialled in and that nobody
/// vouched for within a minute, the limit is 16 KiB.
/// A peer is dialled only if it was asked for by <see cref="Open"/>, and only until all its holders have released it; after that, once more if its connection
/// breaks. A peer that only dialled in may come back for 60 s. There are 4,096 places for such peers: of those that nobody <see cref="Vouch"/>ed for, the one
/// that has been silent longest gives way to a newcomer, and its link ends. When the node has no room left for bulk, a link that nobody holds also ends if its peer
/// was silent for 3 s with bytes queued. All strangers share the bytes that are read from them in a turn.
/// There is no <c>Socket</c> in this contract: simulation and TCP implement it alike.
/// </remarks>
internal interface ILinks
{
    /// <summary>The address at which other nodes reach this one.</summary>
    NodeAddress Local { get; }

    /// <summary>Who this node is to others; null without credentials.</summary>
    internal NodeIdentity? Identity => null;

    /// <summary>Who the peer has shown itself to be; null without credentials, and while it is not connected for the first time.</summary>
    internal NodeIdentity? IdentityOf(int peer) => null;

    /// <summary>
    /// Returns the peer number of a node, and dials the node when it is new. <paramref name="nodeId"/> 0 means any node that answers at the address;
    /// the number stays the same when that node's id is learned.
    /// </summary>
    int Open(NodeAddress address, ulong nodeId = 0);

    /// <summary>Forgets a peer: closes its connection, drops its queue. The number is not used again.</summary>
    void Close(int peer);

    /// <summary>Ends a link that leads nowhere: all its users, the caller included, are told <paramref name="fault"/>.</summary>
    internal void GiveUp(int peer, LinkFault fault = LinkFault.Rejected)
    {
    }

    /// <summary>A frame of the peer that was kept for later turned out to be malformed: it counts as if it had come now.</summary>
    internal void Blame(int peer)
    {
    }

    /// <summary>
    /// Says that the peer is a process of the system: for a minute its link gives way to no newcomer and may have as much queued as others, even if nobody here
    /// asked for the peer.
    /// </summary>
    internal void Vouch(int peer)
    {
    }

    /// <summary>The caller needs the peer for more than what it sends now, until it calls <see cref="Release"/>. Calls count: each needs its <see cref="Release"/>.</summary>
    internal void Hold(int peer)
    {
    }

    /// <summary>
    /// A holder no longer needs the peer. A peer without a holder counts as one that only dialled in and was just vouched for, until it is opened again:
    /// callers that do not hold a peer open it for each frame that they send.
    /// </summary>
    internal void Release(int peer)
    {
    }

    /// <summary>
    /// Whether the peer is the node that it says it is: a dial of the address that was asked for reached it, or the node that listens there has this session.
    /// All that is known of a peer that only dialled in is what it says itself.
    /// </summary>
    internal bool IsConfirmed(int peer) => true;

    /// <summary>
    /// Whether the frames that came over the link so far count as the peer's: it is confirmed, or no node answered that could confirm it. Frames of a peer that
    /// only dialled in may arrive before this node asks for that peer; until this is true they count as another node's. <see cref="ILinkObserver.OnLinkUp"/> tells
    /// when to ask again.
    /// </summary>
    internal bool IsSettled(int peer) => true;

    /// <summary>Bytes of frames that came from the peer over this link.</summary>
    internal long Received(int peer) => 0;

    /// <summary>Bytes of frames that the peer has acknowledged over this link.</summary>
    internal long Taken(int peer) => 0;

    /// <summary>Dials the peer at once, to learn soon whether it still listens. A peer that nobody needs any more is dialled only if it is confirmed and its link is up.</summary>
    void Probe(int peer);

    /// <summary>The id the peer has shown, 0 while unknown.</summary>
    ulong NodeIdOf(int peer);

    /// <summary>The address the peer listens at.</summary>
    NodeAddress AddressOf(int peer);

    /// <summary>Bytes queued for the peer and not acknowledged by it.</summary>
    long Backlog(int peer);

    /// <summary>
    /// Bytes of bulk that may be queued for the peer now. One frame may go while the number is above 0. After 0 or less,
    /// <see cref="ILinkObserver.OnRoom"/> tells when there is room again; until then no producer gets any. When the link is over this is 0, and no event follows.
    /// </summary>
    long Room(int peer);

    /// <summary>
    /// Whether one frame for several peers may go to this one beyond its <see cref="Room"/>. Only for a caller that had room on this link since its last such
    /// frame, and left it to other producers because another of its links had none: otherwise links that have room by turns would never have it at the same time.
    /// </summary>
    internal bool MayExceed(int peer) => false;

    /// <summary>Whether there is no room for bulk to a peer only because the node as a whole has none: that is not the peer's fault.</summary>
    internal bool WaitsForNode(int peer) => false;

    /// <summary>Whether all links together hold as much as the node may: no link has room until some of it is acknowledged.</summary>
    bool IsFull { get; }

    /// <summary>How long until <see cref="IsFull"/> ends, at the rate at which peers acknowledged lately; between 1 ms and 1 s.</summary>
    TimeSpan TimeToRoom { get; }

    /// <summary>The bytes that all links together hold, and the bytes of calls that wait to be sent over them; null where these have no bound.</summary>
    internal NodeBacklog? Quota => null;

    /// <summary>
    /// Room for one frame of at most <paramref name="size"/> bytes, header included. Filled by the caller and given to one
    /// <c>Send</c> before the next <c>Reserve</c>.
    /// </summary>
    Span<byte> Reserve(int size);

    /// <summary>The first <paramref name="size"/> reserved bytes once more: for a header that is written when the length of the body is known.</summary>
    Span<byte> Reserved(int size);

    /// <summary>Queues the first <paramref name="length"/> reserved bytes for one peer.</summary>
    void Send(int peer, int length);

    /// <summary>Queues the first <paramref name="length"/> reserved bytes for several peers; the bytes exist once.</summary>
    void Send(ReadOnlySpan<int> peers, int length);
}
