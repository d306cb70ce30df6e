namespace Ida.Ordering;

/// <summary>
/// A one-key read at a representative. It waits for puts queued before it, reads, and waits until the writer of what it read is stable.
/// It takes no place in the order. Source: dht-order.md#reads-of-one-key.
/// </summary>
internal sealed class ReadWait
{
    public ReadWait? Next;

    /// <summary>Where the answer goes: a rank, or an operation of this member, with a request number.</summary>
    public int Rank;
    public ulong Request;
    public uint Attempt;
    public bool Local;
    public int LocalIndex;

    public ConsistencyLevel Level;
    public long Arrival;
    public bool HasRead;
    public byte[]? Value;
    public ulong Version;
    public ParticipantRecord? Writer;
    public int WriterGeneration;

    public void Reset()
    {
        Next = null;
        Local = false;
        HasRead = false;
        Value = null;
        Writer = null;
    }
}
