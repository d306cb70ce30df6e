namespace GroupCore.Transport;

/// <summary>
/// Reliable FIFO links to other nodes, by dense peer number. A link outlives its connection: after a break it is dialled again and
/// resumes where the receiver stands, so a frame is delivered exactly once and in order while both ends live and neither closes it.
/// </summary>
/// <remarks>
/// Sending never blocks and never fails: frames wait in the link's queue. Who sends bulk (values, state, users' messages) asks for
/// <see cref="Room"/> first and waits without it; control frames do not ask. So bulk never delays control for long, and the queue stays far
/// from <see cref="LinkLimits.QueueBytes"/>, above which the link ends with <see cref="LinkFault.Overflow"/>: at both ends those that use it
/// hear that frames are lost, and what is sent to its number from then on goes nowhere. For a stranger, a peer that only dialled in and that nobody
/// vouched for within a minute, that limit is 16 KiB.
/// Only a peer that was asked for by <see cref="Open"/> is dialled, until all who held it have released it, and once more when its connection breaks then; one that dialled in may come back for 60 s,
/// and of 4,096 such peers the most silent one gives way to a newcomer: its link ends, unless somebody <see cref="Vouch"/>ed for it. All such peers
/// for whom nobody vouches share what is read of them in a turn.
/// There is no <c>Socket</c> in this contract: simulation and TCP implement it alike.
/// </remarks>
public interface ILinks
{
    /// <summary>Where this node listens.</summary>
    NodeAddress Local { get; }

    /// <summary>
    /// The peer number for a node, dialling it when it is new. <paramref name="nodeId"/> 0 means whoever answers at the address;
    /// the number stays the same when that node's id is learned.
    /// </summary>
    int Open(NodeAddress address, ulong nodeId = 0);

    /// <summary>Forgets a peer: closes its connection, drops its queue. The number is not used again.</summary>
    void Close(int peer);

    /// <summary>Ends a link that leads nowhere: all that use it hear <paramref name="fault"/>, who calls this as well.</summary>
    internal void GiveUp(int peer, LinkFault fault = LinkFault.Rejected)
    {
    }

    /// <summary>A frame of the peer that was kept turned out to be malformed: it counts as one that comes now.</summary>
    internal void Blame(int peer)
    {
    }

    /// <summary>The peer is a process of the system: for a minute its link is ended for no newcomer and may have as much queued as others, though nobody here asked for it.</summary>
    internal void Vouch(int peer)
    {
    }

    /// <summary>Somebody needs the peer, and not only for what he sends now, until he calls <see cref="Release"/>: each as often as the other.</summary>
    internal void Hold(int peer)
    {
    }

    /// <summary>
    /// Who held the peer needs it no longer. When nobody does, it counts as one that only dialled in and was just vouched for, until it is opened again, as by
    /// all who open it for each thing that they send.
    /// </summary>
    internal void Release(int peer)
    {
    }

    /// <summary>
    /// Whether the peer is who it says: it was reached by a dial of the address that was asked for, or who listens there has this session. Of one that only
    /// dialled in nothing is known but what it says.
    /// </summary>
    internal bool IsConfirmed(int peer) => true;

    /// <summary>
    /// Whether what came over the link so far is the peer's: it is confirmed, or nobody is there who could. What one sent that only dialled in may
    /// be here before it is asked for, and is another's until this holds. <see cref="ILinkObserver.OnLinkUp"/> tells when to ask again.
    /// </summary>
    internal bool IsSettled(int peer) => true;

    /// <summary>Bytes of frames that came from the peer over this link.</summary>
    internal long Received(int peer) => 0;

    /// <summary>Bytes of frames that the peer has acknowledged over this link.</summary>
    internal long Taken(int peer) => 0;

    /// <summary>Dials a peer that was asked for again at once, to learn soon whether it still listens; when nobody needs it any more, one whose link is up.</summary>
    void Probe(int peer);

    /// <summary>The id the peer has shown, 0 while unknown.</summary>
    ulong NodeIdOf(int peer);

    /// <summary>The address the peer listens at.</summary>
    NodeAddress AddressOf(int peer);

    /// <summary>Bytes queued for the peer and not acknowledged by it.</summary>
    long Backlog(int peer);

    /// <summary>
    /// Bytes of bulk that may be queued for the peer now. One frame may go while it is above 0. Whoever gets 0 or less hears of
    /// <see cref="ILinkObserver.OnRoom"/> when there is room again; until then nobody gets any. 0 without an event when the link is over.
    /// </summary>
    long Room(int peer);

    /// <summary>
    /// Whether one frame for several peers may go to this one beyond its <see cref="Room"/>: the caller had room on this link since its last
    /// such frame and left it to others while another of its links had none. Links that have room in turns never have it at once.
    /// </summary>
    internal bool MayExceed(int peer) => false;

    /// <summary>Whether all links together hold as much as the node may: no link has room until some of it is acknowledged.</summary>
    bool IsFull { get; }

    /// <summary>How long, at the rate at which peers acknowledged lately, until <see cref="IsFull"/> ends; between 1 ms and 1 s.</summary>
    TimeSpan TimeToRoom { get; }

    /// <summary>What all links together hold, and calls that wait to be sent over them; null where that has no bound.</summary>
    internal NodeBacklog? Quota => null;

    /// <summary>
    /// Room for one frame of at most <paramref name="size"/> bytes, header included. Filled by the caller and given to one
    /// <c>Send</c> before the next <c>Reserve</c>.
    /// </summary>
    Span<byte> Reserve(int size);

    /// <summary>Queues the first <paramref name="length"/> reserved bytes for one peer.</summary>
    void Send(int peer, int length);

    /// <summary>Queues the first <paramref name="length"/> reserved bytes for several peers; the bytes exist once.</summary>
    void Send(ReadOnlySpan<int> peers, int length);
}
