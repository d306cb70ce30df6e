using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Tallies accusations and decides which processes to exclude together. Leader-local: a new leader starts empty and observers repeat
/// themselves within 500 ms, or at once when they hear of it.
/// </summary>
/// <remarks>
/// With K observers per process: a subject reported by H = ⌈0.7 K⌉ is decided when none is between Lo = ⌈0.3 K⌉ and H, or after 1 s; so
/// processes that fail together are excluded by one entry. Proof of death (a process gone from its host; its own address, not a proxy's,
/// refused or answered by another as two observers saw) needs no tally. What a proxy's address does counts only when it has lasted as long as a silence does before it
/// is reported. A report that lasts 10 s without reaching H is a pair that does not
/// get on: the one with more complaints goes, else the later registered.
/// What a single member says of another's silence in its group is such a report too: its probes may well be answered. That handlers are slow is judged apart
/// (<see cref="SlowMembers"/>).
/// The process that decides is alive, since it decides: nothing is proof of the contrary. Without it nobody could decide if it is the only
/// voter: then it stays.
/// Sources: failure-detection.md#a-cut-not-single-exclusions, #proof-of-death, #what-a-proxys-address-says, #a-pair-that-does-not-get-on, #one-stall-is-no-tally; Suresh et al.
/// 2018 (Rapid).
/// </remarks>
internal sealed class CutDetector(INode node, Observers observers, OracleOptions options)
{
    private const long UnstableWait = Durations.Second;
    private const long PairTimeout = 10 * Durations.Second;
    private const int PoorHealth = 4;
    private readonly ReportTable _reports = new();
    private readonly SlowMembers _slow = new(node);
    // How long nothing is heard of a process before that is reported (Watch).
    private readonly long _silence = options.ProbeInterval.Nanoseconds() * options.ProbeRounds;
    private long _decidedSince;

    /// <summary>Whether anybody is accused.</summary>
    public bool Any => _reports.Count + _slow.Count > 0;

    /// <summary>Members of groups that were looked at for slowness.</summary>
    public long Looked => _slow.Looked;

    public void Clear()
    {
        _reports.Clear();
        _slow.Clear();
        _decidedSince = 0;
    }

    /// <summary>What an observer says now takes the place of what it said.</summary>
    public void Accuse(ProcessId subject, ProcessId observer, Accusation evidence, int health)
    {
        bool slow = evidence == Accusation.Slow;
        if (slow) _slow.Accuse(subject, observer, health);
        else _reports.Add(subject, observer, evidence, health, node.Now);
        if (slow) _reports.Remove(subject, observer);
        else _slow.Withdraw(subject, observer);
    }

    public void Withdraw(ProcessId subject, ProcessId observer)
    {
        _reports.Remove(subject, observer);
        _slow.Withdraw(subject, observer);
    }

    /// <summary>It is decided that a process goes, or it has gone.</summary>
    public void OnGoing(ProcessId subject) => _slow.OnGoing(subject);

    /// <summary>Whom to exclude now; empty while nothing is decided. Also names excluded processes whose death was proved since.</summary>
    /// <param name="state">Who is registered.</param>
    /// <param name="alive">How many are.</param>
    /// <param name="needed">Who does not go at all: the deciding process where it is the only voter.</param>
    /// <param name="mayGo">Whether the others can decide without that process; of pairs that do not get on the next one is looked at where they cannot.</param>
    public List<Failure> Decide(OracleState state, int alive, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        _reports.Expire(state, node.Now);
        var decided = new List<Failure>();
        int each = Math.Max(1, Observers.PerSubject(alive));
        int high = 2 * (((7 * each) + 9) / 10), low = 2 * Math.Max(1, ((3 * each) + 9) / 10);
        bool unstable = false;
        var tallied = new List<ProcessId>();
        foreach (var (subject, reports) in _reports)
        {
            if (state.Find(subject) is not { } process) continue;
            if (process.Id.Node != node.Id && Proved(state, process, reports))
            {
                if (!process.Proved) decided.Add(new(subject, true));
                continue;
            }
            if (!process.Alive || subject == needed || IsOneStall(reports)) continue;
            int tally = Tally(state, process, reports, low);
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

    private static bool IsOneStall(SortedDictionary<ProcessId, Report> reports)
    {
        if (reports.Count > 1) return false;
        foreach (var (_, report) in reports)
            if (report.Evidence != Accusation.FlushStall) return false;
        return true;
    }

    private static bool Proved(OracleState state, ProcessRecord process, SortedDictionary<ProcessId, Report> reports)
    {
        int gone = 0;
        foreach (var (observer, report) in reports)
        {
            // Who runs elsewhere cannot have seen it.
            if (report.Evidence == Accusation.ProcessGone && process.Host.Length > 0 && state.Find(observer)?.Host == process.Host) return true;
            if (report.Evidence is Accusation.Refused or Accusation.Replaced) gone++;
        }
        return gone >= 2 && process.OwnsAddress;
    }

    /// <summary>
    /// Distinct observers in halves: those in poor health count half where another could say it too; observers of it that are accused themselves stand for reports
    /// they may fail to send.
    /// </summary>
    private int Tally(OracleState state, ProcessRecord subject, SortedDictionary<ProcessId, Report> reports, int low)
    {
        int tally = 0;
        foreach (var (observer, report) in reports)
            if (Counts(subject, report)) tally += report.Health >= PoorHealth && HasOther(state, subject.Id, observer, low) ? 1 : 2;
        if (tally < low) return tally;
        foreach (var other in observers.WatchersOf(subject.Id, state))
            if (!reports.ContainsKey(other) && IsAccused(state, other, low)) tally += 2;
        return tally;
    }

    /// <summary>
    /// Whether a report counts by now. Where a proxy's address refuses that may be so for a moment only, as with a proxy that restarts, and the process behind it lives: it has the
    /// time of one that is silent, in which each sign of life takes the report back. Where another answers it is over at once: links to it are.
    /// </summary>
    private bool Counts(ProcessRecord subject, in Report report) =>
        subject.OwnsAddress || report.Evidence != Accusation.Refused || node.Now - report.Since >= _silence;

    /// <summary>How many say what counts against a process, or <paramref name="most"/> where that is less.</summary>
    private int CountOf(OracleState state, ProcessId subject, int most = int.MaxValue)
    {
        int count = 0;
        if (_reports.CountOf(subject) == 0 || state.Find(subject) is not { } process) return 0;
        foreach (var (_, report) in _reports[subject])
            if (Counts(process, report) && ++count == most) break;
        return count;
    }

    /// <summary>
    /// Whether a process has another observer, which is not accused itself. Half a word waits for that one's: where there is none, as of two processes, it waited for ever, since
    /// health recovers with the answers of others, and the only one that could give them was the one that is silent. That health recovers with time instead would not be right:
    /// who runs punctually again may still be cut off from all others, and cannot know. Poor health does its part without that: rounds of it are up to five times as long.
    /// </summary>
    private bool HasOther(OracleState state, ProcessId subject, ProcessId observer, int low)
    {
        foreach (var other in observers.WatchersOf(subject, state))
            if (other != observer && !IsAccused(state, other, low)) return true;
        return false;
    }

    private bool IsAccused(OracleState state, ProcessId process, int low) => 2 * CountOf(state, process, most: low) >= low;

    private void AddPair(OracleState state, List<Failure> decided, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        foreach (var (subject, reports) in _reports)
        {
            if (state.Find(subject) is not { Alive: true } process) continue;
            foreach (var (observer, report) in reports)
            {
                if (node.Now - report.Since < PairTimeout || !Counts(process, report)) continue;
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
