using GroupCore.Membership;

namespace Oracle.State;

/// <summary>Result of a request. <paramref name="Process"/> is set for a registration; <paramref name="Group"/> for a join, a create, and a leave that ends with this answer.</summary>
internal sealed record OperationResult(bool Ok, string Reason, ProcessId Process, GroupId Group)
{
    public static readonly OperationResult Completed = new(true, "", default, default);

    public static OperationResult Refused(string reason) => new(false, reason, default, default);

    /// <summary>The process was neither a member nor named as a joiner: no view will say that it left.</summary>
    public static OperationResult Left(GroupId group) => new(true, "", default, group);

    public static OperationResult Joined(GroupId group) => new(true, "", default, group);
}
