namespace GroupCore.Membership;

/// <summary>
/// The warning of a view change: who will survive it, leave and join. A higher <paramref name="Number"/> supersedes; none is withdrawn.
/// </summary>
/// <param name="Group">The group.</param>
/// <param name="Number">Oracle log index of the entry that created it.</param>
/// <param name="BaseView">The view it starts from.</param>
/// <param name="Survivors">Members of both views, in rank order of the base view.</param>
/// <param name="Leavers">Members that leave of their own will: they take part in the flush.</param>
/// <param name="Joiners">Processes that come, in joining order.</param>
public sealed record Proposal(GroupId Group, ulong Number, ulong BaseView, IReadOnlyList<ProcessId> Survivors,
    IReadOnlyList<ProcessId> Leavers, IReadOnlyList<ViewMember> Joiners);
