namespace Ida.Ordering;

/// <summary>The use of one key by one operation: a node of the key's queue, and the result for that key.</summary>
internal sealed class KeyUse
{
    public ParticipantRecord Op = null!;
    public Entry Entry = null!;
    public KeyUse? Previous, Next;

    /// <summary>The next use of the entry that waits for its value at the view change.</summary>
    public KeyUse? Later;

    /// <summary>Whether it is in the queue of its entry.</summary>
    public bool Queued;

    /// <summary>Rank among the arrivals at this key, for readers that wait for the puts before them.</summary>
    public long Arrival;

    /// <summary>The value that a put brings; null removes.</summary>
    public byte[]? Incoming;

    /// <summary>Identity of the resolver, 0 for none.</summary>
    public ulong Resolver;

    /// <summary>The value of the entry after a put, or the value that a read saw.</summary>
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
