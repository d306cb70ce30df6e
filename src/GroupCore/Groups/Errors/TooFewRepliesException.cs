namespace GroupCore.Groups;

/// <summary>A query can no longer get as many replies as it asked for.</summary>
public sealed class TooFewRepliesException(string handler, int wanted, int got, string why)
    : InvalidOperationException($"The query '{handler}' wanted {wanted} replies and got {got}: {why}.")
{
    /// <summary>Replies asked for.</summary>
    public int Wanted { get; } = wanted;

    /// <summary>Replies received.</summary>
    public int Got { get; } = got;
}
