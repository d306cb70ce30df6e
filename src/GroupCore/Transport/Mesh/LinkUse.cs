namespace GroupCore.Transport.Mesh;

/// <summary>A link that is not over, for diagnosis.</summary>
/// <param name="Address">Where the peer is.</param>
/// <param name="NodeId">The id that the peer has shown or must show; 0 while any node that answers is meant.</param>
/// <param name="Backlog">Bytes that the peer has not acknowledged.</param>
/// <param name="Phase">Whether it has a connection, or one is being made.</param>
/// <param name="IsAskedFor">Whether a protocol of this node asks for it, so that it is dialled.</param>
/// <param name="IsHeld">Whether it waits until it is known who the other end is.</param>
/// <param name="IsForeign">Whether the peer is a stranger, whose bytes do not count for the node.</param>
internal readonly record struct LinkUse(NodeAddress Address, ulong NodeId, long Backlog, LinkPhase Phase, bool IsAskedFor, bool IsHeld, bool IsForeign)
{
    /// <summary>Bytes of <see cref="Backlog"/> that have not left yet.</summary>
    public long Unsent { get; init; }

    /// <summary>When bytes last came from the peer; null if none came yet, and where this is not recorded.</summary>
    public long? HeardAt { get; init; }
}
