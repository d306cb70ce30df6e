using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>Asks for a view after <paramref name="View"/> with the same members.</summary>
internal sealed record Renew(GroupId Group, ulong View) : Operation;
