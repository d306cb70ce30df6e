using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Tallies suspicions and decides which processes to exclude together. Local to the leader: a new leader starts without suspicions, and observers repeat theirs within 500 ms,
/// or at once when they hear of the leader.
/// </summary>
/// <remarks>
/// With K observers per process, a subject suspected by H = ⌈0.7 K⌉ of them is decided when no other tally is between Lo = ⌈0.3 K⌉ and H, or after 1 s. So processes that fail
/// together are excluded by one entry. Proof of death needs no tally: an observer saw the process gone from their host; or, where nobody else can answer for it, two observers saw its own address, not a proxy's,
/// refuse, or another process answer there. A refusal at a proxy's address, or over a network, counts only when it has lasted as long as a silence lasts before the process is suspected. A
/// suspicion that lasts 10 s without reaching H shows a pair that does not get on. Of the two, the process with more suspicions against it goes; if both have as many, the one
/// that registered later.
/// When only one member suspects another of stalling a flush of their group, that is such a pair too: the other may well answer its probes. Slow handlers are
/// judged separately (<see cref="SlowMembers"/>).
/// The process that decides is alive, since it decides; no evidence proves the contrary. If it is the only voter it stays, since without it no process could decide.
/// Sources: failure-detection.md#a-cut-not-single-exclusions, #proof-of-death, #what-a-proxys-address-says, #a-pair-that-does-not-get-on, #one-stall-is-no-tally; Suresh et al.
/// 2018 (Rapid).
/// </remarks>
internal sealed partial class CutDetector(INode node, MonitoringRing ring, OracleOptions options)
{
    private const long UnstableWait = Durations.Second;
    private const long PairTimeout = 10 * Durations.Second;
    private const int PoorHealth = 4;
    private readonly SuspicionTable _suspicions = new();
    private readonly SlowMembers _slow = new(node);
    // How long nothing is heard of a process before an observer suspects it (FailureDetector).
    private readonly long _silence = options.ProbeInterval.Nanoseconds() * options.ProbeRounds;
    private readonly bool _refusalsProve = options.RefusalsProve;
    private long _decidedSince;

    /// <summary>Whether any process is suspected.</summary>
    public bool Any => _suspicions.Count + _slow.Count > 0;

    /// <summary>Number of group members looked at to judge slow ones; for checks.</summary>
    public long Looked => _slow.Looked;

    public void Clear()
    {
        _suspicions.Clear();
        _slow.Clear();
        _decidedSince = 0;
    }

    /// <summary>Takes an observer's suspicion, which replaces its earlier one.</summary>
    public void Suspect(ProcessId subject, ProcessId observer, Suspicion evidence, int health)
    {
        bool slow = evidence == Suspicion.Slow;
        if (slow) _slow.Suspect(subject, observer, health);
        else _suspicions.Add(subject, observer, evidence, health, node.Now);
        if (slow) _suspicions.Remove(subject, observer);
        else _slow.Withdraw(subject, observer);
    }

    public void Withdraw(ProcessId subject, ProcessId observer)
    {
        _suspicions.Remove(subject, observer);
        _slow.Withdraw(subject, observer);
    }

    /// <summary>The exclusion of a process was decided or applied, or the process has said goodbye.</summary>
    public void OnGoing(ProcessId subject) => _slow.OnGoing(subject);

    /// <summary>The processes to exclude now; empty while nothing is decided. Also names excluded processes whose death was proved since.</summary>
    /// <param name="state">The registered processes.</param>
    /// <param name="alive">The number of processes that are not excluded.</param>
    /// <param name="needed">The process that must not go: the deciding process, if it is the only voter.</param>
    /// <param name="mayGo">Whether the others can decide without this process; if they cannot, the next pair that does not get on is looked at.</param>
    public List<Exclusion> Decide(OracleState state, int alive, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        _suspicions.Expire(state, node.Now);
        var decided = new List<Exclusion>();
        int each = Math.Max(1, MonitoringRing.PerSubject(alive));
        int high = 2 * (((7 * each) + 9) / 10), low = 2 * Math.Max(1, ((3 * each) + 9) / 10);
        bool unstable = false;
        var tallied = new List<ProcessId>();
        foreach (var (subject, suspicions) in _suspicions)
        {
            if (state.Find(subject) is not { } process) continue;
            if (process.Id.Node != node.Id && Proved(state, process, suspicions))
            {
                if (!process.Proved) decided.Add(new(subject, true));
                continue;
            }
            if (!process.Alive || subject == needed || IsOneStall(suspicions)) continue;
            int tally = Tally(state, process, suspicions, low);
            if (tally >= high) tallied.Add(subject);
            else if (tally >= low) unstable = true;
        }
        if (tallied.Count == 0) _decidedSince = 0;
        else if (_decidedSince == 0) _decidedSince = node.Now;
        if (tallied.Count > 0 && (!unstable || node.Now - _decidedSince >= UnstableWait))
        {
            foreach (var subject in tallied) decided.Add(new(subject, false));
        }
        _slow.Decide(state, decided, needed, mayGo);
        if (decided.Count == 0) AddPair(state, decided, needed, mayGo);
        return decided;
    }

    private static bool IsOneStall(SortedDictionary<ProcessId, SuspicionReport> suspicions)
    {
        if (suspicions.Count > 1) return false;
        foreach (var (_, suspicion) in suspicions)
            if (suspicion.Evidence != Suspicion.FlushStall) return false;
        return true;
    }

    private bool Proved(OracleState state, ProcessRecord process, SortedDictionary<ProcessId, SuspicionReport> suspicions)
    {
        int gone = 0;
        foreach (var (observer, suspicion) in suspicions)
        {
            // An observer on another host cannot have seen it.
            if (suspicion.Evidence == Suspicion.ProcessGone && process.Host.Length > 0 && state.Find(observer)?.Host == process.Host) return true;
            if (suspicion.Evidence is Suspicion.Refused or Suspicion.Replaced) gone++;
        }
        return gone >= 2 && IsItsWord(process);
    }

    /// <summary>
    /// Counts distinct observers, in halves. An observer in poor health counts half if another observer could say the same. An observer that is suspected itself and has said
    /// nothing counts in full, as it may be unable to speak.
    /// </summary>
    private int Tally(OracleState state, ProcessRecord subject, SortedDictionary<ProcessId, SuspicionReport> suspicions, int low)
    {
        int tally = 0;
        foreach (var (observer, suspicion) in suspicions)
            if (Counts(subject, suspicion)) tally += suspicion.Health >= PoorHealth && HasOther(state, subject.Id, observer, low) ? 1 : 2;
        if (tally < low) return tally;
        foreach (var other in ring.WatchersOf(subject.Id, state))
            if (!suspicions.ContainsKey(other) && IsSuspected(state, other, low)) tally += 2;
        return tally;
    }

    /// <summary>
    /// Whether a suspicion counts by now. A proxy's address may refuse for a moment, as when the proxy restarts, while the process behind it lives; so may a firewall, or somebody on the network. A suspicion for a
    /// refusal there waits as long as a silence would, and each sign of life withdraws it. If another process answers there, that counts at once: links to the subject have
    /// ended.
    /// </summary>
    private bool Counts(ProcessRecord subject, in SuspicionReport suspicion) =>
        IsItsWord(subject) || suspicion.Evidence != Suspicion.Refused || node.Now - suspicion.Since >= _silence;

    // Whether a refusal at the address comes from the subject's own host: there is no proxy, and nobody on the way who could refuse in its name.
    private bool IsItsWord(ProcessRecord subject) => subject.OwnsAddress && _refusalsProve;

    /// <summary>Number of observers whose suspicions of a process count, but <paramref name="most"/> at most.</summary>
    private int CountOf(OracleState state, ProcessId subject, int most = int.MaxValue)
    {
        int count = 0;
        if (_suspicions.CountOf(subject) == 0 || state.Find(subject) is not { } process) return 0;
        foreach (var (_, suspicion) in _suspicions[subject])
            if (Counts(process, suspicion) && ++count == most) break;
        return count;
    }

    /// <summary>
    /// Whether a process has another observer that is not suspected itself. Half a vote waits for that observer's vote. If there is none, as with two processes, it would wait
    /// for ever: health recovers with answers of others, and the only process that could answer is silent. Nor may health recover with time instead: a process that is punctual
    /// again may still be cut off from all others, and cannot know. Poor health delays a suspicion enough as it is: rounds are up to five times as long.
    /// </summary>
    private bool HasOther(OracleState state, ProcessId subject, ProcessId observer, int low)
    {
        foreach (var other in ring.WatchersOf(subject, state))
            if (other != observer && !IsSuspected(state, other, low)) return true;
        return false;
    }

    private bool IsSuspected(OracleState state, ProcessId process, int low) => 2 * CountOf(state, process, most: low) >= low;

    private void AddPair(OracleState state, List<Exclusion> decided, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        foreach (var (subject, suspicions) in _suspicions)
        {
            if (state.Find(subject) is not { Alive: true } process) continue;
            foreach (var (observer, suspicion) in suspicions)
            {
                if (node.Now - suspicion.Since < PairTimeout || !Counts(process, suspicion)) continue;
                int against = CountOf(state, subject), back = CountOf(state, observer);
                ProcessId goes = against > back || (against == back && subject > observer) ? subject : observer;
                if (goes == needed) goes = goes == subject ? observer : subject;
                if (!mayGo(goes)) continue;
                decided.Add(new(goes, false));
                return;
            }
        }
    }
}
