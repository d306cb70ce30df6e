namespace Ida.Coordination;

/// <summary>One key of a caller's operation, and its result.</summary>
internal struct OperationPart
{
    /// <summary>Place in the call; parts are sorted by shard.</summary>
    public int Index;

    public int KeyOffset, KeyLength, Shard;
    public ulong Hash;

    /// <summary>Bytes of the value that a put brings, behind those of the key; −1 removes.</summary>
    public int IncomingLength;
    public ulong Resolver;

    public bool HasResult;

    /// <summary>The proposed time for which the result was computed or read ahead; <see cref="Executed"/> for the result of an execution.</summary>
    public ulong ResultTime;

    public const ulong Executed = ulong.MaxValue;

    /// <summary>A value read from this member's slice, which never changes an array.</summary>
    public byte[]? Value;

    /// <summary>Whether the value came from another member; then its place in the bytes of the operation.</summary>
    public bool HasCopy;
    public int CopyOffset, CopyLength;

    public ulong Version;
    public string? Error;
}
