namespace GroupCore.Groups.Dispatch;

/// <summary>What the event stream of a group consists of.</summary>
internal enum EventKind : byte
{
    /// <summary>A multicast.</summary>
    Message,

    /// <summary>A multicast query.</summary>
    Query,

    /// <summary>A message to this member alone.</summary>
    PeerMessage,

    /// <summary>A query to this member alone.</summary>
    PeerQuery,

    /// <summary>A view was installed.</summary>
    View,

    /// <summary>A view change begins.</summary>
    Proposed,

    /// <summary>Cut the checkpoint for joiners.</summary>
    Save,

    /// <summary>Load the checkpoint.</summary>
    Load,

    /// <summary>The member has left: nothing follows.</summary>
    Left,
}
