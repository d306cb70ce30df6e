using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Names of lost groups whose release is not in the log yet, in the order in which their last leases end. A leadership requests each release once,
/// and again only where the log refused it; a bounded number at a time.
/// </summary>
internal sealed class LostNames(INode node, LeaseFence fence)
{
    private const int AtOnce = 256;
    private readonly PriorityQueue<LostGroup, long> _kept = new();
    private bool _proved;

    /// <summary>How often the end of a lost group's leases was looked up; for checks.</summary>
    public long Looked { get; private set; }

    public void Clear()
    {
        _kept.Clear();
        _proved = false;
    }

    /// <summary>A leadership begins: what an earlier leadership requested is lost, or applied by now.</summary>
    public void Begin(OracleState state)
    {
        Clear();
        foreach (var lost in state.Lost) Add(state, lost);
    }

    /// <summary>Adds a lost group. Its members get no more leases, so the end of the last one does not move.</summary>
    public void Add(OracleState state, LostGroup lost)
    {
        Looked++;
        _kept.Enqueue(lost, fence.EndOf(state, lost));
    }

    /// <summary>A process is proved dead, so nothing waits for its lease. However many proofs a turn brings, the names are gone through once.</summary>
    public void OnProved() => _proved = true;

    /// <summary>Requests the releases that are due; true if there were any.</summary>
    public bool Release(OracleState state, RequestBatcher batcher)
    {
        if (_proved) Reorder(state);
        int released = 0;
        for (; released < AtOnce && _kept.TryPeek(out var lost, out long due) && due <= node.Now; released++)
        {
            _kept.Dequeue();
            batcher.Add(new(default, 0, 0, new Release(lost.Id)));
        }
        return released > 0;
    }

    private void Reorder(OracleState state)
    {
        _proved = false;
        var kept = _kept.UnorderedItems.Select(static item => item.Element).ToList();
        _kept.Clear();
        foreach (var lost in kept) Add(state, lost);
    }
}
