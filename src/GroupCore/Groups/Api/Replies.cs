namespace GroupCore.Groups;

/// <summary>How many answers a query waits for. Source: groupcore-oracle 6.10.</summary>
public readonly record struct Replies
{
    private Replies(int code) => Code = code;

    /// <summary>0 all, −1 majority, else a count.</summary>
    internal int Code { get; }

    /// <summary>All members of the view in which the query is delivered, except those that fail or leave meanwhile. The default.</summary>
    public static Replies All => default;

    /// <summary>More than half of these members; fails with <see cref="TooFewRepliesException"/> when they can no longer come.</summary>
    public static Replies Majority => new(-1);

    /// <summary>The first value.</summary>
    public static Replies First => new(1);

    /// <summary>That many values, at least 1.</summary>
    public static Replies AtLeast(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        return new(count);
    }
}
