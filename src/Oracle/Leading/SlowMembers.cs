using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Decides which members go because their handlers are slow. Only members of a group that evicts slow members can see that, however many processes watch the slow member. It
/// goes when two other members of one such group have suspected it for 6 s, or when the only other living member has.
/// </summary>
/// <remarks>
/// If the handlers of several members wait for the same thing, the members suspect each other. So a member that enough others suspect is no witness while they do, nor in the
/// 6 s after that: when the thing comes, each member withdraws its suspicions at its own next look. This leaves some member in each group.
/// Members that have been suspected for 10 s, though only by slow ones, go too, the latest registered first. A member that suspected one that goes stays for 10 s more: it may
/// have waited for something that the other one held.
/// Source: failure-detection.md#slow-members-are-judged-by-their-group.
/// </remarks>
internal sealed class SlowMembers(INode node)
{
    private const int Witnesses = 2;

    // Members look once a second. In a flush, a member that is quick again says so. If that does not arrive, the others withdraw their suspicions at their third look after the
    // flush leader last named the member, at most 2.5 s after the member last said that its handlers are at work. So no suspicion that lasts this long is about something that
    // is over.
    private const long Wait = 6 * Durations.Second;
    private const long StuckWait = 10 * Durations.Second;
    private static readonly HashSet<ProcessId> s_nobody = [];
    private static readonly Dictionary<ProcessId, long> s_never = [];
    private readonly SuspicionTable _suspicions = new();
    private readonly List<ProcessId> _witnesses = [];

    // By observer: when a process that it had suspected went.
    private readonly SortedDictionary<ProcessId, long> _freedAt = [];

    // By subject: when enough members last suspected it.
    private readonly SortedDictionary<ProcessId, long> _slowAt = [];

    /// <summary>Number of members that are suspected.</summary>
    public int Count => _suspicions.Count;

    /// <summary>Number of group members looked at; for checks.</summary>
    public long Looked { get; private set; }

    public void Clear()
    {
        _suspicions.Clear();
        _freedAt.Clear();
        _slowAt.Clear();
    }

    public void Suspect(ProcessId subject, ProcessId observer, int health) => _suspicions.Add(subject, observer, Suspicion.Slow, health, node.Now);

    public void Withdraw(ProcessId subject, ProcessId observer) => _suspicions.Remove(subject, observer);

    /// <summary>A process goes, for whatever reason: the members that waited for it may now be quick again.</summary>
    public void OnGoing(ProcessId subject)
    {
        if (_suspicions.CountOf(subject) == 0) return;
        foreach (var observer in _suspicions[subject].Keys) _freedAt[observer] = node.Now;
    }

    /// <summary>Adds to <paramref name="decided"/> the slow members that go, but neither <paramref name="needed"/> nor any that <paramref name="mayGo"/> denies.</summary>
    public void Decide(OracleState state, List<Exclusion> decided, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        _suspicions.Expire(state, node.Now);
        Forget(_freedAt, StuckWait);
        Forget(_slowAt, Wait);
        var (slow, going, freed) = (new SortedSet<ProcessId>(), new HashSet<ProcessId>(), new HashSet<ProcessId>());
        foreach (var (subject, _) in _suspicions)
            if (IsSlow(state, subject, s_nobody, s_never, 0)) slow.Add(subject);
        foreach (var subject in slow) _slowAt[subject] = node.Now;
        foreach (var exclusion in decided) Goes(exclusion.Process);
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
            if (_suspicions.CountOf(subject) > 0) freed.UnionWith(_suspicions[subject].Keys);
        }
    }

    private void Forget(SortedDictionary<ProcessId, long> times, long after)
    {
        List<ProcessId> old = [.. times.Where(time => node.Now - time.Value >= after).Select(static time => time.Key)];
        foreach (var process in old) times.Remove(process);
    }

    /// <summary>Whether enough witnesses in one group have suspected the subject for this long, counted from when they were last slow themselves.</summary>
    /// <remarks>
    /// Walks the suspicions, not all members: with 1,000 groups of 40, all slow to each other, a look at all members took the leader 0.5 s and more, and the system was lost.
    /// </remarks>
    private bool IsSlow(OracleState state, ProcessId subject, IReadOnlySet<ProcessId> noWitnesses, IReadOnlyDictionary<ProcessId, long> slowAt, long wait)
    {
        if (state.Find(subject) is not { Alive: true } process) return false;
        _witnesses.Clear();
        foreach (var (observer, suspicion) in _suspicions[subject])
        {
            if (node.Now - Math.Max(suspicion.Since, slowAt.GetValueOrDefault(observer)) < wait || noWitnesses.Contains(observer) || !state.IsAlive(observer)) continue;
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

    /// <summary>Whether at most one other living member might be a witness.</summary>
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
