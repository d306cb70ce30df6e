namespace Oracle.State.Operations;

/// <summary>
/// The requester leaves all groups and is no voter any more. With <paramref name="Goodbye"/> it has stopped: it is excluded, and
/// its own word is proof of death (failure-detection.md#proof-of-death).
/// </summary>
internal sealed record Depart(bool Goodbye) : Operation;
