using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <summary>What the answers to a question must be: at most one from each member, by rank, and as many as were asked for.</summary>
internal static class Answers
{
    /// <summary>
    /// Whether all members that had to answer did. If all were asked for, every member of the view in which the question came has answered, except members that had no state
    /// yet, and members that left or failed before they had answered, as a later view says. If a majority was asked for, more than half of those that had the state have.
    /// Otherwise at least one has.
    /// </summary>
    /// <param name="replies">What was asked for.</param>
    /// <param name="from">The members that have answered.</param>
    /// <param name="asked">The view in which the question came to its asker; null: it did not come.</param>
    /// <param name="later">The views after it so far.</param>
    /// <param name="excused">Members that may be missing because they have no answer to give; null: none.</param>
    /// <returns>What is wrong; null: nothing. Without a later view, a missing member has had no reason to be missing.</returns>
    public static string? Missing(Replies replies, IReadOnlyList<MemberRef> from, View? asked, IReadOnlyCollection<View> later, Func<ProcessId, bool>? excused = null)
    {
        if (from.Count == 0 && excused is null) return "nobody has answered";
        for (int i = 1; i < from.Count; i++)
            if (from[i].Rank <= from[i - 1].Rank) return "answers are not by rank";
        if (asked is null) return null;
        if (replies == Replies.Majority)
        {
            int able = asked.Members.Count(static one => one.Initialised);
            return from.Count > able / 2 ? null : $"{from.Count} of {able} are no majority";
        }
        if (replies != Replies.All) return null;
        var silent = asked.Members.FirstOrDefault(one => one.Initialised && from.All(answer => answer.Id != one.Id) && excused?.Invoke(one.Id) != true && later.All(view => view.RankOf(one.Id) >= 0));
        return silent is null ? null : $"{silent.Id} has not answered, and stays from view {asked.Id} to view {asked.Id + (ulong)later.Count}";
    }
}
