namespace GroupCore.Groups;

/// <summary>How many answers a query waits for. Source: multicast.md#a-majority-is-of-initialised-members.</summary>
public readonly record struct Replies
{
    private Replies(int code) => Code = code;

    /// <summary>0 all, −1 majority, else a count.</summary>
    internal int Code { get; }

    /// <summary>
    /// All members of the view in which the query is delivered, except those that fail or leave meanwhile. A member that is loading the group's
    /// state is waited for until it has loaded, or the view is over. The default.
    /// </summary>
    public static Replies All => default;

    /// <summary>
    /// More than half of the members that had the group's state when that view began; fails with <see cref="TooFewRepliesException"/> when that many values
    /// can no longer come. Any two majorities of one view have a member in common; no load is waited for, and the answer of a member that loaded since does not count.
    /// </summary>
    public static Replies Majority => new(-1);

    /// <summary>The first value, from any member.</summary>
    public static Replies First => new(1);

    /// <summary>That many values from any members, at least 1; members that are loading the group's state count once they have it and answer.</summary>
    public static Replies AtLeast(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        return new(count);
    }
}
