using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>
/// The leader's side of membership leases: grants them, and knows until when an excluded process may still act.
/// </summary>
/// <remarks>
/// <para>Guarantee (StrictPrimary, oracle.md#a-view-waits-for-the-leases-of-those-it-excludes, #a-lease-needs-a-confirmed-round, #a-new-leader-takes-every-lease-as-held): when a
/// view is decided that excludes a process not proved dead, every lease of that
/// process is over. A process that sent its question at time t holds the lease until t + 98 % of L on its clock, which is less than
/// 99 % of L of real time with clocks that drift by at most 1 %; the leader waits L on its clock, which is at least 99 % of L. L is the option of the process that holds the
/// lease, not of the leader. The process says it when it registers, so every leader knows it, and processes may have different ones.</para>
/// <para>Why no earlier or later leader breaks it. (1) A lease is granted only after a read round that began after the question arrived was
/// answered by a majority in the leader's term. A new leader's majority shares a voter with that one; this voter answered first and voted later, so the question was sent
/// before the election. One L after its election a new leader therefore knows that all leases of its predecessors are over, and until then it assumes that every process holds
/// one. (2) A leader grants only when an entry of its own term is committed, and grants no lease to a process whose exclusion is in its log. So a later leader's log has that
/// committed entry, and with it no exclusion or view completion of an earlier term that this leader did not see: what was appended before the grant and never committed cannot
/// come back after it.</para>
/// <para>Lease and election are dated by the clock at that moment, not by the time of the turn: a process that was frozen after the start of a turn reads in that turn
/// questions and votes that came later.</para>
/// <para>The wait is before the view completion is appended (<see cref="LeaseFence"/>), not before the view is announced: once the completion is in the log, any replica may
/// commit and announce the view.</para>
/// </remarks>
internal sealed class LeaseTable(INode node, OracleRules rules, FrameSender sender)
{
    private const int MaxAsks = 2 * Limits.Processes;
    private readonly SortedDictionary<ProcessId, long> _until = [];
    private readonly List<ProcessId> _over = [];
    private readonly Queue<(ulong Read, LeaseAsk Ask, int Peer)> _asks = new();

    // When this leadership began; unless it is the first, every process is assumed to hold a lease granted then. Null before Begin: no lease counts as over.
    private long? _since;
    private bool _inherits;

    /// <summary>The role changed: the leases and questions here belong to another leadership.</summary>
    public void Clear()
    {
        _until.Clear();
        _asks.Clear();
        _since = null;
    }

    /// <summary>A leadership has committed its first entry; <paramref name="assumeLeases"/> unless it is the first. Questions since its election wait here.</summary>
    public void Begin(long since, bool assumeLeases) =>
        (_since, _inherits) = (since, assumeLeases && rules.StrictPrimaryInherits);

    /// <summary>Takes a question; it is answered when the read round that starts with this turn is confirmed.</summary>
    public void Ask(Raft.Leader leader, LeaseAsk ask, int peer)
    {
        if (_asks.Count < MaxAsks) _asks.Enqueue((leader.BeginRead(), ask, peer));
    }

    /// <summary>Answers the questions of confirmed rounds.</summary>
    public void Grant(ReplicatedLog log, OracleState state, SortedSet<ProcessId> excluding, MonitoringRing ring)
    {
        ulong confirmed = log.Leading?.ConfirmedRead ?? 0;
        while (_asks.TryPeek(out var next) && next.Read <= confirmed)
        {
            var (_, ask, peer) = _asks.Dequeue();
            if (state.Find(ask.Process) is not { Alive: true } process || excluding.Contains(process.Id)) continue;
            if (peer != FrameSender.Own) node.Links.Vouch(peer);
            _until[process.Id] = node.Clock() + process.Lease;
            var subjects = ask.Version == state.ProcessesVersion ? null : ring.SubjectsOf(process, state);
            sender.Reply(peer, new LeaseGrant(ask.Sent, log.Entries.ConfigurationAt(log.Commit), state.ProcessesVersion, subjects));
        }
    }

    /// <summary>Number of leases that may not be over yet.</summary>
    public int Count => _until.Count;

    /// <summary>The latest time at which a process, whose leases have this length in ns, may still hold one.</summary>
    public long EndOf(ProcessId process, long length) =>
        _since is { } since ? Math.Max(_inherits ? since + length : since, _until.GetValueOrDefault(process)) : long.MaxValue;

    /// <summary>Forgets leases that are over: such a lease counts like none.</summary>
    public void Prune()
    {
        _over.Clear();
        foreach (var (process, until) in _until)
            if (until <= node.Now) _over.Add(process);
        foreach (var process in _over) _until.Remove(process);
    }
}
