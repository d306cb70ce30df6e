namespace GroupCore.Runtime;

/// <summary>Why input from the network was refused.</summary>
public enum RefusalReason
{
    /// <summary>Frame length, type or header outside the limits.</summary>
    Framing,

    /// <summary>The body of a frame did not read as its type says.</summary>
    Malformed,

    /// <summary>Another cluster name, wire version or an unexpected node at the address.</summary>
    WrongCluster,

    /// <summary>A type nobody handles.</summary>
    UnknownType,

    /// <summary>A group slot the peer never bound.</summary>
    Unbound,

    /// <summary>A view that is over, or not the one the rules allow.</summary>
    StaleView,

    /// <summary>The sender is not whom the frame says it is.</summary>
    WrongSender,

    /// <summary>A rule of the protocol forbids the frame here.</summary>
    Unexpected,

    /// <summary>A connection that broke off within its first frame, said none in the time allowed, or had to make room for others at the door.</summary>
    Handshake,

    /// <summary>A node that sent more than 100 malformed frames within a minute: its link is ended, and its connections are refused for a minute.</summary>
    Muted,

    /// <summary>A connection that could not be taken, because the process or its system has no descriptor or no memory left: tried again every 100 ms.</summary>
    Exhausted,

    /// <summary>A node that only dialled in, was silent for longest, and gave its place to a newcomer: its link is ended.</summary>
    Displaced,
}
