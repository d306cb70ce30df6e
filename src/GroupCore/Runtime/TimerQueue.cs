namespace GroupCore.Runtime;

/// <summary>Timers of one node: a binary heap by (due, order of setting), so that firing order is the same on every run. Cancelling is lazy.</summary>
internal sealed class TimerQueue
{
    private readonly PriorityQueue<(ITimerTarget Target, long Token, long Sequence), (long Due, long Sequence)> _heap = new();
    private readonly HashSet<long> _live = [];
    private long _next = 1;

    /// <summary>When the earliest live timer is due; <see cref="long.MaxValue"/> without one.</summary>
    public long NextDue
    {
        get
        {
            while (_heap.TryPeek(out var entry, out var at))
            {
                if (_live.Contains(entry.Sequence)) return at.Due;
                _heap.Dequeue();
            }
            return long.MaxValue;
        }
    }

    public TimerHandle Set(long due, ITimerTarget target, long token)
    {
        long sequence = _next++;
        _heap.Enqueue((target, token, sequence), (due, sequence));
        _live.Add(sequence);
        return new(sequence);
    }

    public void Cancel(TimerHandle handle) => _live.Remove(handle.Sequence);

    /// <summary>Fires one due timer; false when none is due.</summary>
    public bool FireOne(long now)
    {
        while (_heap.TryPeek(out var entry, out var at) && at.Due <= now)
        {
            _heap.Dequeue();
            if (!_live.Remove(entry.Sequence)) continue;
            entry.Target.OnTimer(entry.Token);
            return true;
        }
        return false;
    }
}
