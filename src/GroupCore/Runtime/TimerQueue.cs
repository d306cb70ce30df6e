namespace GroupCore.Runtime;

/// <summary>
/// Timers of one node: a binary heap by (due, order of setting), so that firing order is the same on every run. A cancelled timer leaves at once,
/// so the queue holds live timers only; setting one allocates nothing once the arrays have grown.
/// </summary>
internal sealed class TimerQueue
{
    private Slot[] _slots = new Slot[16];
    private int[] _heap = new int[16];
    private int _count;
    private int _used;
    private int _free = -1;
    private long _sequence;

    /// <summary>When the earliest timer is due; <see cref="long.MaxValue"/> without one.</summary>
    public long NextDue => _count == 0 ? long.MaxValue : _slots[_heap[0]].Due;

    /// <summary>Timers that wait.</summary>
    public int Count => _count;

    public TimerHandle Set(long due, ITimerTarget target, long token)
    {
        int at = Take();
        ref Slot slot = ref _slots[at];
        (slot.Due, slot.Sequence, slot.Target, slot.Token) = (due, ++_sequence, target, token);
        slot.Generation++;
        if (_count == _heap.Length) Array.Resize(ref _heap, _count * 2);
        Up(_count++, at);
        // Never 0, however often the place was used.
        return new(((long)slot.Generation << 32) | (uint)(at + 1));
    }

    public void Cancel(TimerHandle handle)
    {
        int at = (int)handle.Sequence - 1;
        if (at < 0 || at >= _used) return;
        ref Slot slot = ref _slots[at];
        if (slot.Target is null || slot.Generation != (int)(handle.Sequence >> 32)) return;
        Remove(slot.HeapAt);
        Give(at);
    }

    /// <summary>Fires one due timer; false when none is due.</summary>
    public bool FireOne(long now)
    {
        if (NextDue > now || _count == 0) return false;
        int at = _heap[0];
        var (target, token) = (_slots[at].Target!, _slots[at].Token);
        Remove(0);
        Give(at);
        target.OnTimer(token);
        return true;
    }

    private int Take()
    {
        if (_free >= 0)
        {
            int at = _free;
            _free = _slots[at].HeapAt;
            return at;
        }
        if (_used == _slots.Length) Array.Resize(ref _slots, _used * 2);
        return _used++;
    }

    // A free slot's place in the heap is the next free slot.
    private void Give(int at)
    {
        _slots[at].Target = null;
        _slots[at].HeapAt = _free;
        _free = at;
    }

    private void Remove(int place)
    {
        int last = _heap[--_count];
        if (place == _count) return;
        Down(place, last);
        if (_heap[place] == last) Up(place, last);
    }

    private void Up(int place, int at)
    {
        while (place > 0)
        {
            int parent = (place - 1) / 2;
            if (!IsBefore(at, _heap[parent])) break;
            Put(place, _heap[parent]);
            place = parent;
        }
        Put(place, at);
    }

    private void Down(int place, int at)
    {
        while (true)
        {
            int child = (2 * place) + 1;
            if (child >= _count) break;
            if (child + 1 < _count && IsBefore(_heap[child + 1], _heap[child])) child++;
            if (!IsBefore(_heap[child], at)) break;
            Put(place, _heap[child]);
            place = child;
        }
        Put(place, at);
    }

    private void Put(int place, int at)
    {
        _heap[place] = at;
        _slots[at].HeapAt = place;
    }

    private bool IsBefore(int one, int other) => _slots[one].Due != _slots[other].Due
        ? _slots[one].Due < _slots[other].Due
        : _slots[one].Sequence < _slots[other].Sequence;

    private struct Slot
    {
        public long Due;
        public long Sequence;
        public ITimerTarget? Target;
        public long Token;
        public int HeapAt;
        public int Generation;
    }
}
