using System.Runtime.InteropServices;

namespace Ida.Ordering;

/// <summary>One-key reads, which take no place in the order (dht-order.md#reads-of-one-key).</summary>
internal sealed class WaitingReads(DhtState state, IAnswers send, Slice slice, KeyQueues queues)
{
    private readonly Stack<ReadWait> _free = [];
    private readonly List<Entry> _waiting = [];
    private int _count;

    /// <summary>Whether something waits for the right to answer: readers, or operations in the queues.</summary>
    public bool HasWaits { get; private set; }

    /// <summary>Keys with readers that wait.</summary>
    public ReadOnlySpan<Entry> Keys => CollectionsMarshal.AsSpan(_waiting);

    /// <summary>
    /// Reads at once if no put is queued at the key: then its value is stable. False when the read has to wait.
    /// </summary>
    public bool TryRead(ReadOnlySpan<byte> key, ulong place, out byte[]? value, out ulong version)
    {
        (value, version) = (null, 0);
        if (!state.CanAnswer) return false;
        if (slice.Table.Find(key, place) is not { } entry) return true;
        if (entry.Queue is { Puts: > 0 }) return false;
        (value, version) = (entry.Value, entry.Version);
        return true;
    }

    public ReadWait New() => _free.TryPop(out var wait) ? wait : new();

    /// <summary>Queues a read that could not be answered at once, and tells the entry that is to be looked at; null when too many wait.</summary>
    public Entry? TryAdd(ReadWait wait, ReadOnlySpan<byte> key, ulong place)
    {
        var entry = slice.EntryOf(key, place);
        if (_count >= state.Own.MaxOperations)
        {
            slice.DropIfIdle(entry);
            return null;
        }
        _count++;
        queues.Of(entry).Arrive(wait);
        Wait(entry);
        return entry;
    }

    /// <summary>Something waits at a key for the right to answer.</summary>
    public void Wait(Entry entry)
    {
        HasWaits = true;
        if (entry.Awaited || entry.Queue?.FirstWait is null) return;
        entry.Awaited = true;
        _waiting.Add(entry);
    }

    /// <summary>Answers the readers of a key whose turn it is.</summary>
    public void Answer(Entry entry, KeyQueue queue)
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
            _count--;
            send.Value(wait);
            wait.Reset();
            if (_free.Count < 4096) _free.Push(wait);
        }
    }

    /// <summary>All that waits is looked at again.</summary>
    public void BeginLook() => HasWaits = false;

    /// <summary>All was looked at: keeps the keys where readers still wait.</summary>
    public void EndLook()
    {
        _waiting.RemoveAll(static entry => !(entry.Awaited = entry.Queue?.FirstWait is not null));
        // Operations in the queues wait too: keep what was found of them.
        HasWaits |= _waiting.Count > 0;
    }

    /// <summary>The view ends: readers ask again.</summary>
    public void Clear()
    {
        foreach (var entry in _waiting)
        {
            queues.TakeBack(entry);
            entry.Awaited = false;
            slice.DropIfIdle(entry);
        }
        _waiting.Clear();
        HasWaits = false;
        _count = 0;
    }

    /// <summary>No view follows: keeps none for later.</summary>
    public void ForgetFree()
    {
        _free.Clear();
        _free.TrimExcess();
    }
}
