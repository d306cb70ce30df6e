namespace GroupCore.Transport;

/// <summary>What happened to a link.</summary>
internal enum LinkFault
{
    /// <summary>A connection that carried the link broke; the link resumes over the next one, which this end dials if it asked for the peer.</summary>
    Reset,

    /// <summary>The host answered that nobody listens at the address.</summary>
    Refused,

    /// <summary>No node answered a dial: nothing came within the connect time-out, or the acceptor ended the connection or did not speak the protocol.</summary>
    Unreachable,

    /// <summary>Another node answers at the address, or membership says that the node that was meant is gone; the link is over.</summary>
    Replaced,

    /// <summary>
    /// The other end has forgotten the session, speaks no common wire version or is not the node that was meant; or it only dialled in, and then stayed away or lost
    /// its place; or it is muted. The link is over.
    /// </summary>
    Rejected,

    /// <summary>The queue passed its limit; the link is over.</summary>
    Overflow,

    /// <summary>A node of another cluster answers at the address; the link is over.</summary>
    WrongCluster,

    /// <summary>This node itself answers at the address; the link is over.</summary>
    Itself,
}
