namespace GroupCore.Transport;

/// <summary>
/// Reliable FIFO links to other nodes, by dense peer number. A link outlives its connection: after a break it is dialled again and
/// resumes where the receiver stands, so a frame is delivered exactly once and in order while both ends live and neither closes it.
/// </summary>
/// <remarks>
/// Sending never blocks and never fails: frames wait in the link's queue; protocols bound what they have outstanding.
/// A queue above <see cref="LinkLimits.QueueBytes"/> ends the link with <see cref="LinkFault.Overflow"/>.
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

    /// <summary>Dials a peer again at once, to learn soon whether it still listens.</summary>
    void Probe(int peer);

    /// <summary>The id the peer has shown, 0 while unknown.</summary>
    ulong NodeIdOf(int peer);

    /// <summary>The address the peer listens at.</summary>
    NodeAddress AddressOf(int peer);

    /// <summary>Bytes queued for the peer and not acknowledged by it.</summary>
    long Backlog(int peer);

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
