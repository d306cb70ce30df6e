using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Who goes because its handlers are slow. That is seen by nobody but the members of a group that evicts for it, however many processes watch the slow
/// one: two other members of one such group say it for 2 s, or the only other one that lives.
/// </summary>
/// <remarks>
/// Where handlers wait for the same thing, members say it of each other: of whom enough say it is no witness, so that somebody is left in each
/// group. Those of whom it is said for 10 s, but by none who is not slow, go too, the latest registered first. Who says it of one that goes
/// stays for 10 s more: what it waited for may have been with that one.
/// Source: groupcore-oracle 6.8 (e).
/// </remarks>
internal sealed class SlowMembers(INode node)
{
    private const int Witnesses = 2;

    // Members look once a second.
    private const long Wait = 2 * Durations.Second;
    private const long StuckWait = 10 * Durations.Second;
    private static readonly HashSet<ProcessId> s_nobody = [];
    private readonly ReportTable _reports = new();

    // When one went of whom a process said it.
    private readonly SortedDictionary<ProcessId, long> _freedAt = [];

    /// <summary>How many are accused.</summary>
    public int Count => _reports.Count;

    public void Clear()
    {
        _reports.Clear();
        _freedAt.Clear();
    }

    public void Accuse(ProcessId subject, ProcessId observer, int health) => _reports.Add(subject, observer, Accusation.Slow, health, node.Now);

    public void Withdraw(ProcessId subject, ProcessId observer) => _reports.Remove(subject, observer);

    /// <summary>Adds those who go, if they may and are not <paramref name="needed"/>, to those decided.</summary>
    public void Decide(OracleState state, List<Failure> decided, ProcessId needed, Predicate<ProcessId> mayGo)
    {
        NoteWhoWent(state);
        _reports.Expire(state, node.Now);
        var (slow, going, freed) = (new SortedSet<ProcessId>(), new HashSet<ProcessId>(), new HashSet<ProcessId>());
        foreach (var (subject, _) in _reports)
            if (IsSlow(state, subject, s_nobody, 0)) slow.Add(subject);
        foreach (var failure in decided) Goes(failure.Process);
        foreach (var subject in slow)
            if (IsSlow(state, subject, slow, Wait)) Add(subject);
        foreach (var subject in slow.Reverse())
            if (!freed.Contains(subject) && IsSlow(state, subject, going, StuckWait)) Add(subject);

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

    private void NoteWhoWent(OracleState state)
    {
        List<ProcessId> old = [.. _freedAt.Where(freed => node.Now - freed.Value >= StuckWait).Select(static freed => freed.Key)];
        foreach (var observer in old) _freedAt.Remove(observer);
        foreach (var (subject, reports) in _reports)
        {
            if (state.IsAlive(subject)) continue;
            foreach (var (observer, _) in reports) _freedAt[observer] = node.Now;
        }
    }

    /// <summary>Whether enough of the living others of a group say it, and for so long, without those who are no witnesses.</summary>
    private bool IsSlow(OracleState state, ProcessId subject, IReadOnlySet<ProcessId> noWitnesses, long wait)
    {
        if (state.Find(subject) is not { Alive: true } process) return false;
        var reports = _reports[subject];
        foreach (var id in process.Groups)
        {
            if (state.Find(id) is not { Options.SlowMember: SlowMember.Evict } group || group.View.RankOf(subject) < 0) continue;
            int others = 0, witnesses = 0;
            foreach (var member in group.View.Members)
            {
                if (member.Id == subject || !state.IsAlive(member.Id) || noWitnesses.Contains(member.Id)) continue;
                others++;
                if (reports.TryGetValue(member.Id, out var report) && node.Now - report.Since >= wait) witnesses++;
            }
            if (witnesses > 0 && witnesses >= Math.Min(Witnesses, others)) return true;
        }
        return false;
    }
}
