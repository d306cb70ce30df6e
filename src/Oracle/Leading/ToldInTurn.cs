using System.Diagnostics.CodeAnalysis;
using GroupCore.Membership;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>
/// Processes that still have to be told something. All may be waiting at once, and each may have to be dialled, so a bounded number is told with each step, in order. A process
/// that is added again keeps its place, since it is told what holds by then.
/// </summary>
internal sealed class ToldInTurn
{
    private const int PerStep = 256;
    private readonly Queue<ProcessRecord> _order = new();
    private readonly HashSet<ProcessId> _waiting = [];
    private int _left = PerStep;

    public void Add(ProcessRecord process)
    {
        if (_waiting.Add(process.Id)) _order.Enqueue(process);
    }

    /// <summary>Called every 100 ms.</summary>
    public void Step() => _left = PerStep;

    public void Clear()
    {
        _order.Clear();
        _waiting.Clear();
    }

    /// <summary>The next process; false when there is none, or when no more may be told before the next step.</summary>
    public bool TryTake([NotNullWhen(true)] out ProcessRecord? process)
    {
        process = null;
        if (_left == 0 || !_order.TryDequeue(out process)) return false;
        _waiting.Remove(process.Id);
        _left--;
        return true;
    }
}
