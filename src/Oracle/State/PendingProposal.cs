using GroupCore.Membership;

namespace Oracle.State;

/// <summary>The proposal that a group is working on, and who was removed as failed to get there.</summary>
internal sealed record PendingProposal(Proposal Proposal, IReadOnlyList<ProcessId> Failed)
{
    public ulong Number => Proposal.Number;

    /// <summary>Whether that process may report the flush as done: it takes part.</summary>
    public bool Flushes(ProcessId process) => Proposal.Survivors.Contains(process) || Proposal.Leavers.Contains(process);
}
