using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Holds view completions of StrictPrimary groups until every member that they exclude is proved dead or without a lease. It holds one per group: a repeat, or the completion
/// of a later proposal, replaces the one before.
/// </summary>
internal sealed class LeaseFence(INode node, OracleRules rules, LeaseTable leases)
{
    private readonly SortedDictionary<GroupId, Request> _held = [];

    /// <summary>When to look again; <see cref="long.MaxValue"/> when nothing is held.</summary>
    public long Due { get; private set; } = long.MaxValue;

    public void Clear()
    {
        _held.Clear();
        Due = long.MaxValue;
    }

    /// <summary>True when the view completion may be appended now; otherwise it is held and replaces <paramref name="replaced"/>.</summary>
    public bool Admit(OracleState state, Request request, out Request? replaced)
    {
        replaced = null;
        var completion = (ViewCompletion)request.Operation;
        long wait = WaitOf(state, completion);
        if (wait <= node.Now) return true;
        replaced = _held.GetValueOrDefault(completion.Group);
        _held[completion.Group] = request;
        Due = Math.Min(Due, wait);
        return false;
    }

    /// <summary>A process is proved dead; true when completions are held. They are looked at once per turn: looking with each proof would cost proofs times completions.</summary>
    public bool OnProved(long now)
    {
        if (_held.Count == 0) return false;
        Due = now;
        return true;
    }

    /// <summary>Number of completions looked at; for tests of that cost.</summary>
    internal long Looked { get; private set; }

    /// <summary>Moves completions that may be appended now, or whose proposal is over, into <paramref name="released"/>.</summary>
    public void Release(OracleState state, List<Request> released)
    {
        Due = long.MaxValue;
        int before = released.Count;
        foreach (var (_, request) in _held)
        {
            Looked++;
            long wait = WaitOf(state, (ViewCompletion)request.Operation);
            if (wait <= node.Now) released.Add(request);
            else Due = Math.Min(Due, wait);
        }
        for (int i = before; i < released.Count; i++) _held.Remove(((ViewCompletion)released[i].Operation).Group);
    }

    /// <summary>Until when some member of the lost group may still act.</summary>
    public long EndOf(OracleState state, LostGroup lost) => EndOf(state, lost.Failed, lost.Lease);

    private long WaitOf(OracleState state, ViewCompletion completion)
    {
        if (state.Find(completion.Group) is not { Pending: { } pending } group || !group.Options.StrictPrimary) return 0;
        return pending.Number == completion.Proposal ? EndOf(state, pending.Failed, 0) : 0;
    }

    /// <summary>Until when one of these processes may still act; <paramref name="lease"/> is the lease length for processes that have no record any more.</summary>
    private long EndOf(OracleState state, IReadOnlyList<ProcessId> failed, long lease)
    {
        long end = 0;
        if (!rules.StrictPrimaryDelay) return end;
        foreach (var id in failed)
        {
            var process = state.Find(id);
            if (process is not { Proved: true }) end = Math.Max(end, leases.EndOf(id, process?.Lease ?? lease));
        }
        return end;
    }
}
