namespace Ida.Ordering;

/// <summary>
/// One key at one member: value, version, clock, and the queue of operations that are not yet executed and stable, in (time, id) order.
/// Value arrays are never changed once stored, so a snapshot keeps a reference and no copy.
/// </summary>
internal sealed class Entry(byte[] key, ulong hash)
{
    public readonly byte[] Key = key;
    /// <summary>xxHash64 of the key, whatever the hash of the options is.</summary>
    public readonly ulong Hash = hash;

    /// <summary>Next entry of the same bucket.</summary>
    public Entry? Chain;

    /// <summary>Null: the key is absent.</summary>
    public byte[]? Value;
    public ulong Version;

    /// <summary>Largest time proposed or committed for this key, and largest version given.</summary>
    public ulong Clock;

    public KeyUse? Head, Tail;

    /// <summary>The first put of the queue: nothing behind it is quiescent, however long the queue is.</summary>
    public KeyUse? FirstPut;

    /// <summary>The first put of the queue that was not executed: no read behind it is due.</summary>
    public KeyUse? FirstUnexecuted;
    public int Uses, Puts;

    /// <summary>It is on the list of keys to look at again.</summary>
    public bool Touched;

    /// <summary>It is on the list of keys with readers that wait.</summary>
    public bool Awaited;

    /// <summary>At a member without its state: the source was asked for this entry, or will be.</summary>
    public bool Wanted;
    public long Arrivals;

    /// <summary>Number of the last limit of all clocks that was applied to this entry (<see cref="EntryTable.LimitClocks"/>).</summary>
    public byte Limited;

    /// <summary>At a member without its state: the view (low half of its number) in which the entry is right, though its range has not arrived.</summary>
    public uint KnownIn;

    /// <summary>At a member without its state: the view in whose beginning the key was absent, as the source has said.</summary>
    public uint AbsentIn;

    /// <summary>The last executed put, as long as it is not stable.</summary>
    public ParticipantRecord? Writer;

    public ReadWait? FirstWait, LastWait;

    /// <summary>The value that the snapshot of view <see cref="SnapView"/> holds, if the entry was changed since.</summary>
    public byte[]? SnapValue;
    public ulong SnapVersion, SnapView;

    /// <summary>Whether removing the entry loses nothing but its clock.</summary>
    public bool Idle => Value is null && Head is null && FirstWait is null;

    /// <summary>Puts a use into its place by (time, id); searches from the tail, where new uses belong.</summary>
    public void Enqueue(KeyUse use)
    {
        var after = Tail;
        while (after is not null && ParticipantRecord.Before(use.Op, after.Op)) after = after.Previous;
        use.Previous = after;
        use.Next = after is null ? Head : after.Next;
        if (use.Next is null) Tail = use; else use.Next.Previous = use;
        if (after is null) Head = use; else after.Next = use;
        use.Queued = true;
        Uses++;
        if (!use.Op.IsPut) return;
        Puts++;
        if (FirstPut is null || ParticipantRecord.Before(use.Op, FirstPut.Op)) FirstPut = use;
        if (!use.Op.Executed && (FirstUnexecuted is null || ParticipantRecord.Before(use.Op, FirstUnexecuted.Op))) FirstUnexecuted = use;
    }

    public void Dequeue(KeyUse use)
    {
        if (!use.Queued) return;
        if (use == FirstPut)
        {
            FirstPut = use.Next;
            while (FirstPut is { Op.IsPut: false }) FirstPut = FirstPut.Next;
        }
        Pass(use);
        if (use.Previous is null) Head = use.Next; else use.Previous.Next = use.Next;
        if (use.Next is null) Tail = use.Previous; else use.Next.Previous = use.Previous;
        use.Previous = use.Next = null;
        use.Queued = false;
        Uses--;
        if (use.Op.IsPut) Puts--;
    }

    /// <summary>Call when a put was executed or leaves the queue.</summary>
    public void Pass(KeyUse use)
    {
        if (use != FirstUnexecuted) return;
        FirstUnexecuted = use.Next;
        while (FirstUnexecuted is not null && (!FirstUnexecuted.Op.IsPut || FirstUnexecuted.Op.Executed)) FirstUnexecuted = FirstUnexecuted.Next;
    }

    /// <summary>Forgets queue and readers at a view change.</summary>
    public void ClearQueue()
    {
        Head = Tail = FirstPut = FirstUnexecuted = null;
        Uses = Puts = 0;
        Writer = null;
        FirstWait = LastWait = null;
    }
}
