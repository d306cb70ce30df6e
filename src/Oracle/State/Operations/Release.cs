using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>Nobody can act any more in that group, whose state is lost: its name is free. The leader's own.</summary>
internal sealed record Release(GroupId Group) : Operation;
