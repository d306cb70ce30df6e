namespace GroupCore.Runtime;

/// <summary>Why input from the network was refused.</summary>
public enum RefusalReason
{
    /// <summary>Frame length, type or header outside the limits.</summary>
    Framing,

    /// <summary>The body of a frame could not be read as its type says.</summary>
    Malformed,

    /// <summary>Another cluster name, another wire version, or another system of the same cluster.</summary>
    WrongCluster,

    /// <summary>A frame type without a handler.</summary>
    UnknownType,

    /// <summary>A group slot the peer never bound.</summary>
    Unbound,

    /// <summary>A view that is over, or not the one the rules allow.</summary>
    StaleView,

    /// <summary>The sender is not the node that the frame names, or is not known to be one that may send it; it may become so.</summary>
    WrongSender,

    /// <summary>A rule of the protocol forbids the frame here.</summary>
    Unexpected,

    /// <summary>A connection that broke off within its first frame, sent no whole frame in the time allowed, or gave way to others before it had said who it is.</summary>
    Handshake,

    /// <summary>A node that sent more than 100 frames within a minute that are malformed or not its to send: its link is ended, and its connections are refused for a minute.</summary>
    Muted,

    /// <summary>A connection that could not be accepted, because the process or its system has no descriptor or memory left; tried again within 100 ms.</summary>
    Exhausted,

    /// <summary>A guest (a node that only dialled in) that was silent the longest and gave its place to a newcomer: its link is ended.</summary>
    Displaced,

    /// <summary>A connection whose other end did not show that it belongs to the cluster: no certificate that is accepted, or no proof of the cluster key.</summary>
    Untrusted,

    /// <summary>A join that the rule of the Oracle's leader did not allow, or about which it gave no answer.</summary>
    Denied,

    /// <summary>A frame that its sender may not send, and that no node of this code ever sends: in another's name, or from a member that is not in charge of it. Counts like a malformed one.</summary>
    NotEntitled,
}
