namespace Ida.Testing;

/// <summary>Events by (time, order of scheduling): a four-ary heap in one array, no allocation per event.</summary>
internal sealed class SimEventQueue
{
    private const int Arity = 4;
    private SimEvent[] _heap = new SimEvent[1024];
    private long _sequence;

    public int Count { get; private set; }

    public long NextTime => Count == 0 ? long.MaxValue : _heap[0].Time;

    public void Add(long time, SimEventKind kind, object target, long argument = 0)
    {
        if (Count == _heap.Length) Array.Resize(ref _heap, Count * 2);
        var item = new SimEvent(time, _sequence++, target, argument, kind);
        int at = Count++;
        while (at > 0)
        {
            int parent = (at - 1) / Arity;
            if (!Before(in item, in _heap[parent])) break;
            _heap[at] = _heap[parent];
            at = parent;
        }
        _heap[at] = item;
    }

    public SimEvent Take()
    {
        var first = _heap[0];
        var last = _heap[--Count];
        _heap[Count] = default;
        if (Count > 0) Sink(in last);
        return first;
    }

    private void Sink(in SimEvent item)
    {
        int at = 0;
        while (true)
        {
            int child = at * Arity + 1;
            if (child >= Count) break;
            int end = Math.Min(child + Arity, Count), least = child;
            for (int i = child + 1; i < end; i++)
                if (Before(in _heap[i], in _heap[least])) least = i;
            if (!Before(in _heap[least], in item)) break;
            _heap[at] = _heap[least];
            at = least;
        }
        _heap[at] = item;
    }

    private static bool Before(in SimEvent left, in SimEvent right) =>
        left.Time != right.Time ? left.Time < right.Time : left.Sequence < right.Sequence;
}
