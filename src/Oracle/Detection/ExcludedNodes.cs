namespace Oracle.Detection;

/// <summary>
/// Whose links are to be looked at because they are being excluded: many may be at once, and each look is a dial. A bounded number of them with each tick, in the
/// order in which they were excluded; one that is said again and again, as by each of its groups, takes one place of it.
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

    /// <summary>Every 100 ms.</summary>
    public void Tick() => _looked.Clear();

    /// <summary>The next one; false when there is none, or none before the next tick.</summary>
    public bool TryTake(out ulong nodeId)
    {
        if (!_order.TryPeek(out nodeId) || (_looked.Count >= PerTick && !_looked.Contains(nodeId))) return false;
        _order.Dequeue();
        _waiting.Remove(nodeId);
        _looked.Add(nodeId);
        return true;
    }
}
