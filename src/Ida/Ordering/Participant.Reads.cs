using GroupCore.Runtime;

namespace Ida.Ordering;

/// <summary>One-key reads, which take no place in the order (dht-order.md#reads-of-one-key).</summary>
internal sealed partial class Participant
{
    private readonly List<Entry> _waiting = [];

    /// <summary>
    /// Reads at once if no put is queued at the key: then its value is stable. False when the read has to wait.
    /// </summary>
    public bool TryRead(ReadOnlySpan<byte> key, ulong hash, out byte[]? value, out ulong version)
    {
        (value, version) = (null, 0);
        if (!state.CanAnswer) return false;
        if (Table.Find(key, Spread(key, hash)) is not { } entry) return true;
        if (entry.Puts > 0) return false;
        (value, version) = (entry.Value, entry.Version);
        return true;
    }

    public ReadWait NewWait() => _waits.TryPop(out var wait) ? wait : new();

    /// <summary>Queues a read that could not be answered at once; false when too many wait.</summary>
    public bool Read(ReadWait wait, ReadOnlySpan<byte> key, ulong hash)
    {
        var entry = EntryOf(key, hash);
        if (_readsWaiting >= state.Options.MaxOperations)
        {
            DropIfIdle(entry);
            return false;
        }
        _readsWaiting++;
        wait.Arrival = entry.Arrivals;
        if (entry.LastWait is null) entry.FirstWait = wait; else entry.LastWait.Next = wait;
        entry.LastWait = wait;
        Wait(entry);
        Touch(entry);
        Pump();
        return true;
    }

    private void Wait(Entry entry)
    {
        HasWaits = true;
        if (entry.FirstWait is null || entry.Awaited) return;
        entry.Awaited = true;
        _waiting.Add(entry);
    }

    private void AnswerReads(Entry entry)
    {
        long barrier = long.MaxValue;
        for (var use = entry.Head; use is not null; use = use.Next)
            if (use.Op.IsPut && !use.Op.Executed) barrier = Math.Min(barrier, use.Arrival);
        ReadWait? previous = null;
        for (ReadWait? wait = entry.FirstWait, next; wait is not null; wait = next)
        {
            next = wait.Next;
            if (!wait.HasRead && (wait.Arrival < barrier || state.Without == Rule.ReadWaitsForQueue))
            {
                wait.HasRead = true;
                (wait.Value, wait.Version, wait.Writer) = (entry.Value, entry.Version, entry.Writer);
                wait.WriterGeneration = entry.Writer?.Generation ?? 0;
            }
            bool stable = wait.Writer is null || wait.Writer.Generation != wait.WriterGeneration || wait.Writer.Stable
                || wait.Level == ConsistencyLevel.Ordered || state.Without == Rule.ReadWaitsForStable;
            if (!wait.HasRead || !stable || !state.CanAnswer)
            {
                previous = wait;
                continue;
            }
            if (previous is null) entry.FirstWait = next; else previous.Next = next;
            if (next is null) entry.LastWait = previous;
            _readsWaiting--;
            send.Value(wait);
            wait.Reset();
            if (_waits.Count < 4096) _waits.Push(wait);
        }
    }
}
