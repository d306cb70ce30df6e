using System.Numerics;

namespace GroupCore.Runtime;

/// <summary>
/// Timers of one node: a binary heap by (due, order of setting), so that the firing order is the same on every run. A cancelled timer leaves at once,
/// so the queue holds live timers only; setting one allocates nothing once the arrays have grown. Arrays enlarged by a burst shrink some seconds after it.
/// </summary>
internal sealed class TimerQueue
{
    private const int Few = 16, Many = 1_024;

    /// <summary>How long places are kept for the next burst, in nanoseconds.</summary>
    private const long Calm = 3_000_000_000;

    private Slot[] _slots = new Slot[Few];
    private int[] _heap = new int[Few];
    private int _count;
    private int _most;
    private int _used;
    private int _free = -1;
    private int _listed = int.MaxValue;
    private long _sequence;
    private long _lookAt;

    /// <summary>When the earliest timer is due; <see cref="long.MaxValue"/> without one.</summary>
    public long NextDue => _count == 0 ? long.MaxValue : _slots[_heap[0]].Due;

    /// <summary>Timers that it has places for; for checks.</summary>
    public int Places => _slots.Length;

    /// <summary>Timers that wait.</summary>
    public int Count => _count;

    public TimerHandle Set(long due, ITimerTarget target, long token)
    {
        int at = Take();
        ref Slot slot = ref _slots[at];
        (slot.Due, slot.Sequence, slot.Target, slot.Token) = (due, ++_sequence, target, token);
        if (_count == _heap.Length) Array.Resize(ref _heap, _count * 2);
        Up(_count++, at);
        if (_count > _most) _most = _count;
        // Never 0, and different each time the slot is used, so that an old handle does not cancel the slot's next timer.
        return new((_sequence << 32) | (uint)(at + 1));
    }

    public void Cancel(TimerHandle handle)
    {
        int at = (int)handle.Sequence - 1;
        if (at < 0 || at >= _used) return;
        ref Slot slot = ref _slots[at];
        if (slot.Target is null || (int)slot.Sequence != (int)(handle.Sequence >> 32)) return;
        Remove(slot.HeapAt);
        Give(at);
    }

    /// <summary>Fires one due timer; false when none is due.</summary>
    public bool FireOne(long now)
    {
        if (_slots.Length > Many && now >= _lookAt) ShrinkSlots(now);
        if (NextDue > now || _count == 0) return false;
        int at = _heap[0];
        var (target, token) = (_slots[at].Target!, _slots[at].Token);
        Remove(0);
        Give(at);
        target.OnTimer(token);
        return true;
    }

    // Timers keep their slots, since their handles name them. The slots above `enough` go when the last timer in them is over; until then a free slot above
    // `enough` is used only when those below run out.
    private void ShrinkSlots(long now)
    {
        int enough = Math.Max(Many, (int)BitOperations.RoundUpToPowerOf2((uint)_most * 2));
        (_lookAt, _most) = (now + Calm, _count);
        if (enough >= _slots.Length) return;
        _used = 0;
        for (int i = 0; i < _count; i++) _used = Math.Max(_used, _heap[i] + 1);
        Array.Resize(ref _slots, Math.Max(enough, (int)BitOperations.RoundUpToPowerOf2((uint)_used)));
        Array.Resize(ref _heap, Math.Min(enough, _heap.Length));
        (_free, _listed) = (-1, enough);
        for (int at = Math.Min(enough, _used) - 1; at >= 0; at--)
            if (_slots[at].Target is null) Give(at);
    }

    // The slots below `_listed` do not suffice: free ones above it are used again before new ones are made.
    private void List()
    {
        int from = _listed;
        _listed = int.MaxValue;
        for (int at = _used - 1; at >= from; at--)
            if (_slots[at].Target is null) Give(at);
    }

    private int Take()
    {
        if (_free >= 0)
        {
            int at = _free;
            _free = _slots[at].HeapAt;
            return at;
        }
        if (_listed < _used)
        {
            List();
            return Take();
        }
        _listed = int.MaxValue;
        if (_used == _slots.Length) Array.Resize(ref _slots, _used * 2);
        return _used++;
    }

    // Free slots are linked: the HeapAt of a free slot is the next free slot.
    private void Give(int at)
    {
        _slots[at].Target = null;
        if (at >= _listed) return;
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
    }
}
