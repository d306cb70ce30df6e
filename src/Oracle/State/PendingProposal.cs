using GroupCore.Membership;

namespace Oracle.State;

/// <summary>The proposal that a group is working on, and who was removed as failed to get there.</summary>
internal sealed record PendingProposal(Proposal Proposal, IReadOnlyList<ProcessId> Failed)
{
    public ulong Number => Proposal.Number;

    /// <summary>Whether that process may report the flush as done, in the group's present view: it leads it.</summary>
    public bool IsLedBy(ProcessId process, View view) => view.RankOf(process) is >= 0 and var rank && rank == Proposal.LeaderIn(view);
}
