namespace GroupCore.Membership;

/// <summary>
/// Announces a view change: which members survive it or leave, and which processes join. One with a higher <paramref name="Number"/> supersedes it; none is withdrawn.
/// </summary>
/// <param name="Group">The group.</param>
/// <param name="Number">Index, in the Oracle's log, of the entry that created it.</param>
/// <param name="BaseView">The view it starts from.</param>
/// <param name="Survivors">Members of both views, in rank order of the base view.</param>
/// <param name="Leavers">Members that leave of their own will: they take part in the flush.</param>
/// <param name="Joiners">Processes that join, in joining order.</param>
public sealed record Proposal(GroupId Group, ulong Number, ulong BaseView, IReadOnlyList<ProcessId> Survivors,
    IReadOnlyList<ProcessId> Leavers, IReadOnlyList<ViewMember> Joiners)
{
    /// <summary>
    /// Rank of the flush leader in the view that the proposal starts from: the lowest initialised survivor, else the lowest initialised leaver, else the lowest
    /// survivor, else the lowest leaver. −1 when no member of that view takes part. The Oracle accepts the view completion from the flush leader alone.
    /// </summary>
    internal int LeaderIn(View view)
    {
        int best = -1, bestClass = 4;
        FindLowest(Survivors, 0);
        FindLowest(Leavers, 1);
        return best;

        void FindLowest(IReadOnlyList<ProcessId> members, int goes)
        {
            for (int i = 0; i < members.Count; i++)
            {
                int rank = view.RankOf(members[i]);
                if (rank < 0) continue;
                int kind = (view.Members[rank].Initialised ? 0 : 2) + goes;
                if (kind < bestClass || (kind == bestClass && rank < best)) (best, bestClass) = (rank, kind);
            }
        }
    }
}
