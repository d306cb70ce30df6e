using GroupCore.Membership;
using Oracle.Log;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// A decision must not end the service that takes it: without a majority of its voters nothing is ever decided again. When a partition
/// heals, what each side says of the other may reach the leader at once, and be enough against its own side too.
/// </summary>
internal static class VoterMajority
{
    private const long AnswerLife = Durations.Second;

    /// <summary>
    /// Leaves out of <paramref name="failures"/> voters that answer this leader, itself first, until those that stay are a majority. Who is
    /// proved dead is no loss any more. <paramref name="excluding"/> go already.
    /// </summary>
    public static void Keep(List<Failure> failures, Leader leader, Configuration configuration, OracleState state, IReadOnlySet<ProcessId> excluding, ulong self, long now)
    {
        int staying = 0, majority = (configuration.Voters.Count / 2) + 1;
        foreach (var voter in configuration.Voters)
            if (Answers(voter.Node) && !failures.Exists(failure => failure.Process.Node == voter.Node)) staying++;
        if (staying < majority) Spare(failure => failure.Process.Node == self);
        if (staying < majority) Spare(failure => configuration.IsVoter(failure.Process.Node) && Answers(failure.Process.Node));

        bool Answers(ulong node) => (node == self || now - leader.HeardAt(node) < AnswerLife) && !Leaves(node);

        // The record of one that was in no view is forgotten with its exclusion, when it still is a voter.
        bool Leaves(ulong node) => state.FindNode(node) is not { Alive: true } process || excluding.Contains(process.Id);

        void Spare(Predicate<Failure> which)
        {
            for (int i = failures.Count - 1; i >= 0 && staying < majority; i--)
            {
                if (failures[i].Proved || !which(failures[i])) continue;
                failures.RemoveAt(i);
                staying++;
            }
        }
    }
}
