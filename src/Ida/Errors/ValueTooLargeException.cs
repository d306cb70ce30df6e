namespace Ida;

/// <summary>A key, a value, or the part of an operation that goes to one shard is larger than allowed.</summary>
public sealed class ValueTooLargeException(string what, long bytes, long limit) : DhtMisuseException($"{what} has {bytes} bytes; at most {limit} are allowed.")
{
    /// <summary>The size of what was too large, in bytes.</summary>
    public long Bytes { get; } = bytes;

    /// <summary>The limit in bytes.</summary>
    public long Limit { get; } = limit;
}
