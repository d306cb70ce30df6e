namespace Ida.Coordination;

/// <summary>One key of a caller's operation, and its result.</summary>
internal struct OpPart
{
    /// <summary>Place in the call; parts are sorted by shard.</summary>
    public int Index;

    public int KeyOffset, KeyLength, Shard;
    public ulong Hash;

    /// <summary>What a put brings; null removes.</summary>
    public byte[]? Incoming;
    public ulong Resolver;

    public bool HasResult;

    /// <summary>What was read, null when absent.</summary>
    public byte[]? Value;
    public ulong Version;
    public string? Error;
}
