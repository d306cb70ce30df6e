namespace GroupCore.Transport;

/// <summary>Is told of link events, inside a turn.</summary>
internal interface ILinkObserver
{
    /// <summary>A connection is up and frames flow; also called after each resume and answered probe, and when the identity of a peer that dialled in is settled.</summary>
    void OnLinkUp(int peer);

    /// <summary>A connection broke or could not be made, or the link is over; see <see cref="LinkFault"/>.</summary>
    void OnLinkFault(int peer, LinkFault fault);

    /// <summary>There is room again for a peer for which a producer found no <see cref="ILinks.Room"/>.</summary>
    void OnRoom(int peer)
    {
    }
}
