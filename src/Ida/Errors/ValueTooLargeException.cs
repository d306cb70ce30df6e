namespace Ida;

/// <summary>A key, a value, or the part of an operation that goes to one shard is larger than allowed, or an operation has too many keys.</summary>
public sealed class ValueTooLargeException : DhtMisuseException
{
    /// <summary>Says what was too large.</summary>
    public ValueTooLargeException(string what, long bytes, long limit) : this($"{what} has {bytes} bytes; at most {limit} are allowed.", (bytes, limit))
    {
    }

    private ValueTooLargeException(string message, (long Is, long Most) size) : base(message) => (Bytes, Limit) = size;

    /// <summary>The size of what was too large, in bytes; one above the limit where it is not known, as for an operation with too many keys.</summary>
    public long Bytes { get; }

    /// <summary>The limit in bytes, or of the number of keys.</summary>
    public long Limit { get; }

    internal static ValueTooLargeException TooManyKeys(int most) => new($"An operation has more than {most} keys.", (most + 1L, most));

    /// <summary>How much more a shard holds is not known: it does not send it.</summary>
    internal static ValueTooLargeException TooMuchOfAShard(int most) => new($"What a shard holds of these keys has more than {most} bytes; read fewer keys at once.", (most + 1L, most));
}
