using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>Asks for a view after <paramref name="View"/> with the same members; where a proposal for the next view is pending already, it has no effect.</summary>
internal sealed record Renew(GroupId Group, ulong View) : Operation;
