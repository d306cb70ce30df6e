using GroupCore.Groups;
using GroupCore.Membership;

namespace Ida.Chaos.Members;

/// <summary>What the answers to a question must be: of each member once, by rank, and as many as were asked for.</summary>
internal static class Answers
{
    /// <summary>
    /// Whether all that had to answer did. Of all members of the view in which the question came, none is missing but who had left or failed by the next one, or had no state yet;
    /// of a majority more than half of those that had the state; else one at least.
    /// </summary>
    /// <param name="replies">What was asked for.</param>
    /// <param name="from">Who has answered.</param>
    /// <param name="asked">The view in which the question came to its asker; null: it did not come.</param>
    /// <param name="next">The view after it; null while there is none.</param>
    /// <returns>What is wrong; null: nothing. Where there is no next view who is missing has had no reason to be.</returns>
    public static string? Missing(Replies replies, IReadOnlyList<MemberRef> from, View? asked, View? next)
    {
        if (from.Count == 0) return "nobody has answered";
        for (int i = 1; i < from.Count; i++)
            if (from[i].Rank <= from[i - 1].Rank) return "answers are not by rank";
        if (asked is null) return null;
        if (replies == Replies.Majority)
        {
            int able = asked.Members.Count(static one => one.Initialised);
            return from.Count > able / 2 ? null : $"{from.Count} of {able} are no majority";
        }
        if (replies != Replies.All) return null;
        var silent = asked.Members.FirstOrDefault(one => one.Initialised && from.All(answer => answer.Id != one.Id) && (next is null || next.RankOf(one.Id) >= 0));
        return silent is null ? null : $"{silent.Id} has not answered, and stays";
    }
}
