using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>The requester leaves a group.</summary>
internal sealed record Leave(GroupId Group) : Operation;
