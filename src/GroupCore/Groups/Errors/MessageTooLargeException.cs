namespace GroupCore.Groups;

/// <summary>A message is larger than what one call may send.</summary>
public sealed class MessageTooLargeException(long bytes, long limit, string what) : ArgumentException($"The {what} has {bytes} bytes; at most {limit} are allowed.")
{
    /// <summary>Size of the message in bytes.</summary>
    public long Bytes { get; } = bytes;

    /// <summary>Largest size allowed, in bytes.</summary>
    public long Limit { get; } = limit;
}
