using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>All survivors and leavers of a proposal acknowledged its flush.</summary>
internal sealed record ViewCompletion(GroupId Group, ulong View, ulong Proposal, IReadOnlyList<ProcessId> Initialised) : Operation;
