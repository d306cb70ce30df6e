using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>The flush leader says that all survivors and leavers of a proposal acknowledged the cut; <paramref name="Initialised"/> names those with the group's state.</summary>
internal sealed record ViewCompletion(GroupId Group, ulong View, ulong Proposal, IReadOnlyList<ProcessId> Initialised) : Operation;
