using GroupCore.Membership;

namespace Oracle.State;

/// <summary>The proposal on which a group is working, and the members that it removes because they are excluded.</summary>
internal sealed record PendingProposal(Proposal Proposal, IReadOnlyList<ProcessId> Failed)
{
    public ulong Number => Proposal.Number;

    /// <summary>Whether this process leads the flush in the group's current view: only the flush leader may complete the view.</summary>
    public bool IsLedBy(ProcessId process, View view) => view.RankOf(process) is >= 0 and var rank && rank == Proposal.LeaderIn(view);
}
