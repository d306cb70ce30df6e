namespace Ida.Ordering;

/// <summary>One-key reads, which take no place in the order (dht-order.md#reads-of-one-key).</summary>
internal sealed partial class Participant
{
    private readonly List<Entry> _waiting = [];

    /// <summary>
    /// Reads at once if no put is queued at the key: then its value is stable. False when the read has to wait.
    /// </summary>
    public bool TryRead(ReadOnlySpan<byte> key, ulong place, out byte[]? value, out ulong version)
    {
        (value, version) = (null, 0);
        if (!state.CanAnswer) return false;
        if (Table.Find(key, place) is not { } entry) return true;
        if (entry.Queue is { Puts: > 0 }) return false;
        (value, version) = (entry.Value, entry.Version);
        return true;
    }

    public ReadWait NewWait() => _waits.TryPop(out var wait) ? wait : new();

    /// <summary>Queues a read that could not be answered at once; false when too many wait.</summary>
    public bool Read(ReadWait wait, ReadOnlySpan<byte> key, ulong place)
    {
        var entry = EntryOf(key, place);
        if (_readsWaiting >= state.Own.MaxOperations)
        {
            DropIfIdle(entry);
            return false;
        }
        _readsWaiting++;
        _queues.Of(entry).Arrive(wait);
        Wait(entry);
        Touch(entry);
        Pump();
        return true;
    }

    private void Wait(Entry entry)
    {
        HasWaits = true;
        if (entry.Awaited || entry.Queue?.FirstWait is null) return;
        entry.Awaited = true;
        _waiting.Add(entry);
    }

    private void AnswerReads(Entry entry, KeyQueue queue)
    {
        long barrier = long.MaxValue;
        for (var use = queue.Head; use is not null; use = use.Next)
            if (use.Op.Kind.Changes && !use.Op.Executed) barrier = Math.Min(barrier, use.Arrival);
        ReadWait? previous = null;
        for (ReadWait? wait = queue.FirstWait, next; wait is not null; wait = next)
        {
            next = wait.Next;
            if (!wait.HasRead && (wait.Arrival < barrier || !state.Rules.ReadWaitsForQueue))
            {
                wait.HasRead = true;
                (wait.Value, wait.Version, wait.Writer) = (entry.Value, entry.Version, queue.Writer);
                wait.WriterGeneration = queue.Writer?.Generation ?? 0;
            }
            bool stable = wait.Writer is null || wait.Writer.Generation != wait.WriterGeneration || wait.Writer.Stable
                || wait.Level == ConsistencyLevel.Ordered || !state.Rules.ReadWaitsForStable;
            if (!wait.HasRead || !stable || !state.CanAnswer)
            {
                previous = wait;
                continue;
            }
            if (previous is null) queue.FirstWait = next; else previous.Next = next;
            if (next is null) queue.LastWait = previous;
            _readsWaiting--;
            send.Value(wait);
            wait.Reset();
            if (_waits.Count < 4096) _waits.Push(wait);
        }
    }
}
