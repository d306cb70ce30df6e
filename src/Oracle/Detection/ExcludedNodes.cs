namespace Oracle.Detection;

/// <summary>
/// Nodes that are being excluded and whose links are still to be looked at. There may be many at once, and each look is a dial. So each tick looks at a bounded number of them,
/// in the order of their exclusion. A node that is added several times, for example by each of its groups, takes one place.
/// </summary>
internal sealed class ExcludedNodes
{
    private const int PerTick = 64;
    private readonly Queue<ulong> _order = new();
    private readonly HashSet<ulong> _waiting = [];
    private readonly HashSet<ulong> _looked = [];

    public void Add(ulong nodeId)
    {
        if (_waiting.Add(nodeId)) _order.Enqueue(nodeId);
    }

    /// <summary>Called every 100 ms.</summary>
    public void Tick() => _looked.Clear();

    /// <summary>The next node; false when there is none, or when no more may be looked at before the next tick.</summary>
    public bool TryTake(out ulong nodeId)
    {
        if (!_order.TryPeek(out nodeId) || (_looked.Count >= PerTick && !_looked.Contains(nodeId))) return false;
        _order.Dequeue();
        _waiting.Remove(nodeId);
        _looked.Add(nodeId);
        return true;
    }
}
