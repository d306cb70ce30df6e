namespace GroupCore.Transport;

/// <summary>A link that is not over, for diagnosis.</summary>
/// <param name="Address">Where the peer is.</param>
/// <param name="NodeId">The id that the peer has shown or must show; 0 while any node that answers is meant.</param>
/// <param name="Backlog">Bytes that the peer has not acknowledged.</param>
internal readonly record struct LinkUse(NodeAddress Address, ulong NodeId, long Backlog);
