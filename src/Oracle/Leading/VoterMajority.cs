using GroupCore.Membership;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Keeps a majority of voters: an exclusion must not end the service that decides it, since without a majority nothing is ever decided again. When a partition
/// heals, the suspicions of each side against the other may reach the leader together, and be enough against its own side too.
/// </summary>
internal static class VoterMajority
{
    private const long AnswerLife = Durations.Second;

    /// <summary>
    /// Removes from <paramref name="exclusions"/> voters that answer this leader, itself first, until the voters that stay are a majority. A voter
    /// that is proved dead is lost already. The processes in <paramref name="excluding"/> count as gone.
    /// </summary>
    public static void Keep(List<Exclusion> exclusions, Leader leader, Configuration configuration, OracleState state, IReadOnlySet<ProcessId> excluding, ulong self, long now)
    {
        int staying = 0, majority = (configuration.Voters.Count / 2) + 1;
        foreach (var voter in configuration.Voters)
            if (Answers(voter.Node) && !exclusions.Exists(exclusion => exclusion.Process.Node == voter.Node)) staying++;
        if (staying < majority && configuration.IsVoter(self)) Spare(exclusion => exclusion.Process.Node == self);
        if (staying < majority) Spare(exclusion => configuration.IsVoter(exclusion.Process.Node) && Answers(exclusion.Process.Node));

        bool Answers(ulong node) => (node == self || now - leader.HeardAt(node) < AnswerLife) && !Leaves(node);

        // The record of a process that was in no view is forgotten with its exclusion, though the process may still be a voter.
        bool Leaves(ulong node) => state.FindNode(node) is not { Alive: true } process || excluding.Contains(process.Id);

        void Spare(Predicate<Exclusion> which)
        {
            for (int i = exclusions.Count - 1; i >= 0 && staying < majority; i--)
            {
                if (exclusions[i].Proved || !which(exclusions[i])) continue;
                exclusions.RemoveAt(i);
                staying++;
            }
        }
    }
}
