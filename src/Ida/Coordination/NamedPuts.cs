namespace Ida.Coordination;

/// <summary>
/// The puts whose callers named them by ids of this member, in flight or waiting for a place. Each issue needs the lowest number, however many puts there are and in whatever order
/// they come and end: so this is a binary heap, in which an operation knows its place and which it leaves without a search.
/// </summary>
internal sealed class NamedPuts
{
    private ClientOperation[] _heap = new ClientOperation[16];

    public int Count { get; private set; }

    /// <summary>The put with the lowest number; null if there is none.</summary>
    public ClientOperation? First => Count == 0 ? null : _heap[0];

    /// <summary>The lowest number; the largest possible one if there is none.</summary>
    public ulong Least => Count == 0 ? ulong.MaxValue : _heap[0].Id.Sequence;

    /// <summary>Adds a put, unless it is in the heap already.</summary>
    public void Add(ClientOperation op)
    {
        if (Has(op)) return;
        if (Count == _heap.Length) Array.Resize(ref _heap, Count * 2);
        Rise(Count++, op);
    }

    public void Remove(ClientOperation op)
    {
        if (!Has(op)) return;
        int place = op.NamedPlace;
        var last = _heap[--Count];
        _heap[Count] = null!;
        if (last == op) return;
        if (place > 0 && IsBefore(last, _heap[(place - 1) / 2])) Rise(place, last);
        else Sink(place, last);
    }

    private bool Has(ClientOperation op) => op.NamedPlace < Count && _heap[op.NamedPlace] == op;

    private void Rise(int place, ClientOperation op)
    {
        for (int above; place > 0 && IsBefore(op, _heap[above = (place - 1) / 2]); place = above) Put(place, _heap[above]);
        Put(place, op);
    }

    private void Sink(int place, ClientOperation op)
    {
        for (int below; (below = (2 * place) + 1) < Count; place = below)
        {
            if (below + 1 < Count && IsBefore(_heap[below + 1], _heap[below])) below++;
            if (!IsBefore(_heap[below], op)) break;
            Put(place, _heap[below]);
        }
        Put(place, op);
    }

    private void Put(int place, ClientOperation op) => (_heap[place], op.NamedPlace) = (op, place);

    private static bool IsBefore(ClientOperation one, ClientOperation other) => one.Id.Sequence < other.Id.Sequence;
}
