using GroupCore.Membership;

namespace Oracle.State;

/// <summary>What came of a request. <paramref name="Process"/> is set for a registration, <paramref name="Group"/> for join and create.</summary>
internal sealed record OperationResult(bool Ok, string Reason, ProcessId Process, GroupId Group)
{
    public static readonly OperationResult Done = new(true, "", default, default);

    public static OperationResult Refused(string reason) => new(false, reason, default, default);

    public static OperationResult Joined(GroupId group) => new(true, "", default, group);
}
