namespace Ida.Ordering;

/// <summary>
/// What a key needs while it is used: the queue of operations that are not yet executed and stable, in (time, id) order, and the readers that wait. An entry has a queue from its first
/// use until no use is left (<see cref="KeyQueues"/>).
/// </summary>
internal sealed class KeyQueue
{
    public KeyUse? Head, Tail;

    /// <summary>The first put of the queue: nothing behind it is quiescent, however long the queue is.</summary>
    public KeyUse? FirstPut;

    /// <summary>The first put of the queue that was not executed: no read behind it is due.</summary>
    public KeyUse? FirstUnexecuted;
    public int Uses, Puts;

    /// <summary>The last executed put, as long as it is not stable and therefore in the queue.</summary>
    public ParticipantRecord? Writer;

    public ReadWait? FirstWait, LastWait;

    // Number of operations that have come since the key rested; all that are in the queue, and all readers, have come since then.
    private long _arrivals;

    /// <summary>Whether an operation or a reader needs it.</summary>
    public bool IsUsed => Head is not null || FirstWait is not null;

    /// <summary>An operation comes, at the place of its proposal.</summary>
    public void Arrive(KeyUse use)
    {
        use.Arrival = ++_arrivals;
        Enqueue(use);
    }

    /// <summary>A reader comes, which has to wait for the puts before it.</summary>
    public void Arrive(ReadWait wait)
    {
        wait.Arrival = _arrivals;
        if (LastWait is null) FirstWait = wait; else LastWait.Next = wait;
        LastWait = wait;
    }

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
        if (!use.Op.Kind.Changes) return;
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
            while (FirstPut is { Op.Kind.Changes: false }) FirstPut = FirstPut.Next;
        }
        Pass(use);
        if (use.Previous is null) Head = use.Next; else use.Previous.Next = use.Next;
        if (use.Next is null) Tail = use.Previous; else use.Next.Previous = use.Previous;
        use.Previous = use.Next = null;
        use.Queued = false;
        Uses--;
        if (use.Op.Kind.Changes) Puts--;
        if (Writer == use.Op) Writer = null;
    }

    /// <summary>Call when a put was executed or leaves the queue.</summary>
    public void Pass(KeyUse use)
    {
        if (use != FirstUnexecuted) return;
        FirstUnexecuted = use.Next;
        while (FirstUnexecuted is not null && (!FirstUnexecuted.Op.Kind.Changes || FirstUnexecuted.Op.Executed)) FirstUnexecuted = FirstUnexecuted.Next;
    }

    /// <summary>Empties the queue, for the next key.</summary>
    public void Reset()
    {
        Head = Tail = FirstPut = FirstUnexecuted = null;
        Uses = Puts = 0;
        Writer = null;
        FirstWait = LastWait = null;
        _arrivals = 0;
    }
}
