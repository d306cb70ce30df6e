namespace Ida.Coordination;

/// <summary>
/// The ends of puts whose callers had been told that the outcome is unknown, at the member that issued them: its acknowledgement lets
/// replicas forget the puts. Bounded in count and bytes; the oldest go first.
/// </summary>
internal sealed class KnownEnds(int most, long mostBytes)
{
    private readonly Dictionary<OperationId, KnownEnd> _byId = [];
    private readonly Queue<OperationId> _order = new();

    public int Count => _byId.Count;

    public long Bytes { get; private set; }

    public bool TryGet(OperationId id, out KnownEnd end) => _byId.TryGetValue(id, out end!);

    /// <summary>Adds an end. A known end stays, unless the new one is an execution: a retry may be executed after all earlier attempts were refused.</summary>
    public void Add(OperationId id, KnownEnd end)
    {
        if (_byId.TryAdd(id, end)) _order.Enqueue(id);
        else if (end.Executed && !_byId[id].Executed) Replace(id, end);
        else return;
        Bytes += end.Bytes;
        while (_order.Count > most || Bytes > mostBytes)
        {
            _byId.Remove(_order.Dequeue(), out var oldest);
            Bytes -= oldest!.Bytes;
        }
    }

    public void Clear()
    {
        _byId.Clear();
        _byId.TrimExcess();
        _order.Clear();
        _order.TrimExcess();
        Bytes = 0;
    }

    private void Replace(OperationId id, KnownEnd end)
    {
        Bytes -= _byId[id].Bytes;
        _byId[id] = end;
    }
}
