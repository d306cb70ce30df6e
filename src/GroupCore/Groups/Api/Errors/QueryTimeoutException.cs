namespace GroupCore.Groups;

/// <summary>A query did not get the answers that it waits for in time.</summary>
public sealed class QueryTimeoutException(string handler, TimeSpan timeout, int got, string missing)
    : TimeoutException($"The query '{handler}' got {got} replies in {timeout.TotalSeconds:0.###} s; no answer from {missing}.")
{
    /// <summary>Replies received in time.</summary>
    public int Got { get; } = got;
}
