using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>No process can act any more in this group, whose state is lost: its name is free. Only the leader makes this request.</summary>
internal sealed record Release(GroupId Group) : Operation;
