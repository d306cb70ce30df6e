using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Who goes because its handlers are slow. That is seen by nobody but the members of a group that evicts for it, however many processes watch the slow
/// one: two other members of one such group say it for 6 s, or the only other one that lives.
/// </summary>
/// <remarks>
/// Where handlers wait for the same thing, members say it of each other: of whom enough say it is no witness, so that somebody is left in each
/// group, nor is it one in the 6 s after that: when what they wait for comes, each takes its word back at a look of its own.
/// Those of whom it is said for 10 s, but by none who is not slow, go too, the latest registered first. Who says it of one that goes
/// stays for 10 s more: what it waited for may have been with that one.
/// Source: failure-detection.md#slow-members-are-judged-by-their-group.
/// </remarks>
internal sealed class SlowMembers(INode node)
{
    private const int Witnesses = 2;

    // Members look once a second, and who is quick again says so in a flush; where that does not arrive they take their word back at their third
    // look after the leader's last, which comes 2.5 s after the slow one's last at most: nobody speaks of others for what is over.
    private const long Wait = 6 * Durations.Second;
    private const long StuckWait = 10 * Durations.Second;
    private static readonly HashSet<ProcessId> s_nobody = [];
    private static readonly Dictionary<ProcessId, long> s_never = [];
    private readonly ReportTable _reports = new();
    private readonly List<ProcessId> _witnesses = [];

    // When one went of whom a process said it.
    private readonly SortedDictionary<ProcessId, long> _freedAt = [];

    // When enough said it of a process last.
    private readonly SortedDictionary<ProcessId, long> _slowAt = [];

    /// <summary>How many are accused.</summary>
    public int Count => _reports.Count;

    /// <summary>Members of groups that were looked at.</summary>
    public long Looked { get; private set; }

    public void Clear()
    {
        _reports.Clear();
        _freedAt.Clear();
        _slowAt.Clear();
    }

    public void Accuse(ProcessId subject, ProcessId observer, int health) => _reports.Add(subject, observer, Accusation.Slow, health, node.Now);

    public void Withdraw(ProcessId subject, ProcessId observer) => _reports.Remove(subject, observer);

    /// <summary>A process goes, for whatever reason: who waits for it may wait no longer.</summary>
    public void OnGoing(ProcessId subject)
    {
        if (_reports.CountOf(subject) == 0) return;
        foreach (var observer in _reports[subject].Keys) _freedAt[observer] = node.Now;
    }

    /// <summary>Adds those who go, if they may and are not <paramref name="needed"/>, to those decided.</summary>
    public void Decide(OracleState state, List<Failure> decided, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        _reports.Expire(state, node.Now);
        Forget(_freedAt, StuckWait);
        Forget(_slowAt, Wait);
        var (slow, going, freed) = (new SortedSet<ProcessId>(), new HashSet<ProcessId>(), new HashSet<ProcessId>());
        foreach (var (subject, _) in _reports)
            if (IsSlow(state, subject, s_nobody, s_never, 0)) slow.Add(subject);
        foreach (var subject in slow) _slowAt[subject] = node.Now;
        foreach (var failure in decided) Goes(failure.Process);
        foreach (var subject in slow)
            if (IsSlow(state, subject, slow, _slowAt, Wait)) Add(subject);
        foreach (var subject in slow.Reverse())
            if (!freed.Contains(subject) && IsSlow(state, subject, going, s_never, StuckWait)) Add(subject);

        void Add(ProcessId subject)
        {
            if (subject == needed || going.Contains(subject) || _freedAt.ContainsKey(subject) || !mayGo(subject)) return;
            decided.Add(new(subject, false));
            Goes(subject);
        }

        void Goes(ProcessId subject)
        {
            going.Add(subject);
            if (_reports.CountOf(subject) > 0) freed.UnionWith(_reports[subject].Keys);
        }
    }

    private void Forget(SortedDictionary<ProcessId, long> times, long after)
    {
        List<ProcessId> old = [.. times.Where(time => node.Now - time.Value >= after).Select(static time => time.Key)];
        foreach (var process in old) times.Remove(process);
    }

    /// <summary>Whether enough of the living others of a group say it, and for so long since they were slow themselves, without those who are no witnesses.</summary>
    /// <remarks>
    /// By those who say it and not by all members: with 1,000 groups of 40, all slow to each other, the leader took 0.5 s and more for each look, and the system was lost.
    /// </remarks>
    private bool IsSlow(OracleState state, ProcessId subject, IReadOnlySet<ProcessId> noWitnesses, IReadOnlyDictionary<ProcessId, long> slowAt, long wait)
    {
        if (state.Find(subject) is not { Alive: true } process) return false;
        _witnesses.Clear();
        foreach (var (observer, report) in _reports[subject])
        {
            if (node.Now - Math.Max(report.Since, slowAt.GetValueOrDefault(observer)) < wait || noWitnesses.Contains(observer) || !state.IsAlive(observer)) continue;
            _witnesses.Add(observer);
        }
        if (_witnesses.Count == 0) return false;
        foreach (var id in process.Groups)
        {
            if (state.Find(id) is not { Options.SlowMember: SlowMember.Evict, View: var view } || view.RankOf(subject) < 0) continue;
            int witnesses = 0;
            for (int i = 0; i < _witnesses.Count && witnesses < Witnesses; i++)
            {
                Looked++;
                if (view.RankOf(_witnesses[i]) >= 0) witnesses++;
            }
            if (witnesses == Witnesses || (witnesses == 1 && IsOneOther(state, view, subject, noWitnesses))) return true;
        }
        return false;
    }

    /// <summary>Whether no more than one other member lives that is a witness or might be.</summary>
    private bool IsOneOther(OracleState state, View view, ProcessId subject, IReadOnlySet<ProcessId> noWitnesses)
    {
        int others = 0;
        for (int rank = 0; rank < view.Members.Count && others < Witnesses; rank++)
        {
            Looked++;
            var member = view.Members[rank].Id;
            if (member != subject && !noWitnesses.Contains(member) && state.IsAlive(member)) others++;
        }
        return others < Witnesses;
    }
}
