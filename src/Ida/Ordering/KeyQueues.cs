using Ida.Wire;

namespace Ida.Ordering;

/// <summary>
/// Lends a queue to each key in use and takes it back when the key rests, so that no operation allocates one. There are as many queues as keys were in use at a time. Of the free ones, a participant
/// keeps as many as its largest operation takes, 4,096 of 88 B: at most 0.4 MB at rest.
/// </summary>
internal sealed class KeyQueues
{
    internal const int MostFree = DhtLimits.Keys;
    private readonly Stack<KeyQueue> _free = [];

    /// <summary>Number of keys in use: entries that have a queue, in the table or not.</summary>
    public int Lent { get; private set; }

    public int Free => _free.Count;

    /// <summary>The queue of an entry, which gets one if it has none.</summary>
    public KeyQueue Of(Entry entry)
    {
        if (entry.Queue is { } queue) return queue;
        Lent++;
        return entry.Queue = _free.TryPop(out var free) ? free : new();
    }

    /// <summary>Takes back the queue of an entry that does not need it any more.</summary>
    public void Rest(Entry entry)
    {
        if (entry.Queue is { IsUsed: false }) TakeBack(entry);
    }

    /// <summary>Takes back the queue of an entry, whatever is in it.</summary>
    public void TakeBack(Entry entry)
    {
        if (entry.Queue is not { } queue) return;
        entry.Queue = null;
        Lent--;
        queue.Reset();
        if (_free.Count < MostFree) _free.Push(queue);
    }

    /// <summary>No view follows: keeps none.</summary>
    public void Forget()
    {
        _free.Clear();
        _free.TrimExcess();
    }
}
