namespace Ida;

/// <summary>A bound on work in progress was reached; the operation was not executed.</summary>
public sealed class OverloadedException(TimeSpan retryAfter, string message) : DhtRetryLaterException(message)
{
    /// <summary>How long to wait before the same call has a chance again.</summary>
    public TimeSpan RetryAfter { get; } = retryAfter;
}
