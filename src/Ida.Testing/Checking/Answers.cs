using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <summary>What the answers to a question must be: of each member once, by rank, and as many as were asked for.</summary>
internal static class Answers
{
    /// <summary>
    /// Whether all that had to answer did. Of all members of the view in which the question came, none is missing but who left or failed before it had answered, as a later view says, or had
    /// no state yet; of a majority more than half of those that had the state; else one at least.
    /// </summary>
    /// <param name="replies">What was asked for.</param>
    /// <param name="from">Who has answered.</param>
    /// <param name="asked">The view in which the question came to its asker; null: it did not come.</param>
    /// <param name="later">The views after it so far.</param>
    /// <param name="excused">Who has no answer to give, and is missing rightly; null: nobody.</param>
    /// <returns>What is wrong; null: nothing. Where there is no later view who is missing has had no reason to be.</returns>
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
