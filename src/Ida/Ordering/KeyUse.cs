using Ida.Kinds;

namespace Ida.Ordering;

/// <summary>The use of one key by one operation: a node of the key's queue, and the result for that key.</summary>
internal sealed class KeyUse
{
    public ParticipantRecord Op = null!;
    public Entry Entry = null!;
    public KeyUse? Previous, Next;

    /// <summary>The next use in the line of the entry: it, too, waits for a value at the view change.</summary>
    public KeyUse? Later;

    /// <summary>Whether it is in the queue of its entry.</summary>
    public bool Queued;

    /// <summary>Rank among the arrivals at this key, for readers that wait for the puts before them.</summary>
    public long Arrival;

    /// <summary>What is done to the key.</summary>
    public KeyDeed Deed = new(KeyEffect.Read);

    /// <summary>The value that the operation brings for that.</summary>
    public byte[]? Incoming;

    /// <summary>The value of the entry after a put, or the value that a read saw.</summary>
    public byte[]? Value;

    public ulong Version;

    /// <summary>Whether the key has the version that the put expects of it.</summary>
    public bool IsMet => !Deed.Expects || Deed.Expected == VersionOf(Entry);

    /// <summary>
    /// Whether the result depends on what the entry held before, which a member without its state has to get first. So does a put that may be left undone: it tells the versions of all its keys.
    /// </summary>
    public bool NeedsValue => Op.IsConditional || Deed.Effect.NeedsValue;

    /// <summary>The version that readers see of an entry.</summary>
    public static ulong VersionOf(Entry entry) => entry.Value is null ? 0 : entry.Version;

    /// <summary>Leaves the queue of its entry, if it is there.</summary>
    public void Leave() => Entry.Queue?.Dequeue(this);

    public void Reset()
    {
        Op = null!;
        Entry = null!;
        Previous = Next = Later = null;
        Queued = false;
        Deed = new(KeyEffect.Read);
        Incoming = Value = null;
        Version = 0;
    }
}
