using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>No process can act any more in this lost group: its name becomes free. Only the leader makes this request.</summary>
internal sealed record Release(GroupId Group) : Operation;
