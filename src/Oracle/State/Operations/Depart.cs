namespace Oracle.State.Operations;

/// <summary>
/// The requester goes: it leaves all groups and is no voter any more. With <paramref name="Goodbye"/> it has stopped: it is excluded, and
/// its own word is proof of death (groupcore-oracle 4.7 d).
/// </summary>
internal sealed record Depart(bool Goodbye) : Operation;
