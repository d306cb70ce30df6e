namespace GroupCore.Groups;

/// <summary>The answers that a query waits for did not come in time.</summary>
public sealed class QueryTimeoutException(string handler, TimeSpan timeout, int got, string missing)
    : TimeoutException($"The query '{handler}' got {got} replies in {timeout.TotalSeconds:0.###} s; no answer from {missing}.")
{
    /// <summary>Replies received in time.</summary>
    public int Got { get; } = got;
}
