namespace Ida.Ordering;

/// <summary>The use of one key by one operation: a node of the key's queue, and the result for that key.</summary>
internal sealed class KeyUse
{
    public OpRecord Op = null!;
    public Entry Entry = null!;
    public KeyUse? Previous, Next;

    /// <summary>The next one of the entry that waits for a value of the boundary.</summary>
    public KeyUse? Later;

    /// <summary>Whether it is in the queue of its entry.</summary>
    public bool Queued;

    /// <summary>Rank among the arrivals at this key, for readers that wait for what came before them.</summary>
    public long Arrival;

    /// <summary>What a put brings; null removes.</summary>
    public byte[]? Incoming;

    /// <summary>Identity of the resolver, 0 for none.</summary>
    public ulong Resolver;

    /// <summary>What the entry holds after a put, or what a read saw.</summary>
    public byte[]? Value;

    public ulong Version;
    public string? Error;

    public void Reset()
    {
        Op = null!;
        Entry = null!;
        Previous = Next = Later = null;
        Queued = false;
        Incoming = Value = null;
        Resolver = Version = 0;
        Error = null;
    }
}
