using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>Asks for a view after <paramref name="View"/> with the same members; where a proposal for that one is pending already, nothing else comes of it.</summary>
internal sealed record Renew(GroupId Group, ulong View) : Operation;
