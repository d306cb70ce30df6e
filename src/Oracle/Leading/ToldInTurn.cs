using System.Diagnostics.CodeAnalysis;
using GroupCore.Membership;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>
/// Who is still to be told something: all processes may be at once, and each may have to be dialled for it. A bounded number with each step, in order; one that is
/// to be told again keeps its place, since it is told what holds by then.
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

    /// <summary>Every 100 ms.</summary>
    public void Step() => _left = PerStep;

    public void Clear()
    {
        _order.Clear();
        _waiting.Clear();
    }

    /// <summary>The next one; false when there is none, or none before the next step.</summary>
    public bool TryTake([NotNullWhen(true)] out ProcessRecord? process)
    {
        process = null;
        if (_left == 0 || !_order.TryDequeue(out process)) return false;
        _waiting.Remove(process.Id);
        _left--;
        return true;
    }
}
