namespace Ida;

/// <summary>A bound on work in progress was reached; the operation was not executed.</summary>
public sealed class OverloadedException(TimeSpan retryAfter, string message) : DhtException(message)
{
    /// <summary>When to try again.</summary>
    public TimeSpan RetryAfter { get; } = retryAfter;
}
