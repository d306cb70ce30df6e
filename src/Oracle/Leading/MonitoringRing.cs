using GroupCore.Membership;
using Oracle.Frames;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>
/// Assigns watchers. Up to 9 processes, everyone watches everyone. Above that there are K = 8 rings, each ordered by another hash: on each ring, the nearest process before a
/// subject that does not watch it already becomes its watcher. So each process has the K watchers that the tally counts on. Otherwise a process that is the nearest on several
/// rings would count once; of 14 processes, one in five then had too few watchers to be excluded. Source: failure-detection.md#each-process-has-k-watchers.
/// </summary>
internal sealed class MonitoringRing
{
    public const int MaxPerSubject = 8;
    private readonly Dictionary<ProcessId, List<ProcessRecord>> _subjects = [];
    private readonly SortedDictionary<ProcessId, List<ProcessId>> _watchers = [];
    private ulong _version = ulong.MaxValue;

    /// <summary>Number of watchers of each process.</summary>
    public static int PerSubject(int processes) => Math.Min(MaxPerSubject, processes - 1);

    /// <summary>Whether the observer is assigned to watch the subject.</summary>
    public bool Watches(ProcessId observer, ProcessId subject, OracleState state) => WatchersOf(subject, state).Contains(observer);

    /// <summary>The processes assigned to watch this one; for an excluded one, those that were when it was excluded.</summary>
    public List<ProcessId> WatchersOf(ProcessId subject, OracleState state)
    {
        if (_version != state.ProcessesVersion) Assign(state);
        return _watchers.GetValueOrDefault(subject, []);
    }

    public List<Subject> SubjectsOf(ProcessRecord observer, OracleState state)
    {
        if (_version != state.ProcessesVersion) Assign(state);
        var subjects = new List<Subject>();
        foreach (var process in _subjects.GetValueOrDefault(observer.Id, []))
        {
            bool sameHost = process.Host.Length > 0 && process.Host == observer.Host;
            subjects.Add(new(process.Id, process.Address, sameHost ? process.Number : 0, sameHost ? process.Start : 0));
        }
        return subjects;
    }

    private void Assign(OracleState state)
    {
        _version = state.ProcessesVersion;
        _subjects.Clear();
        Forget(state);
        var alive = new List<ProcessRecord>();
        foreach (var process in state.Processes)
            if (process.Alive) alive.Add(process);
        foreach (var process in alive) (_subjects[process.Id], _watchers[process.Id]) = ([], []);
        if (alive.Count <= MaxPerSubject + 1)
        {
            foreach (var observer in alive)
                foreach (var subject in alive)
                    if (subject != observer) Add(observer, subject);
            return;
        }
        for (ulong ring = 0; ring < MaxPerSubject; ring++)
        {
            ulong salt = ring;
            alive.Sort((left, right) => (Mix(left.Id.Node, salt), left.Id).CompareTo((Mix(right.Id.Node, salt), right.Id)));
            for (int i = 0; i < alive.Count; i++)
            {
                int before = i;
                do before = (before == 0 ? alive.Count : before) - 1;
                while (_watchers[alive[i].Id].Contains(alive[before].Id));
                Add(alive[before], alive[i]);
            }
        }
    }

    /// <summary>
    /// Forgets all watchers but those of processes that were excluded on suspicion. The death of such a process may be proved only after its exclusion, and the proof spares
    /// the other members the wait for its lease.
    /// </summary>
    private void Forget(OracleState state)
    {
        var over = new List<ProcessId>();
        foreach (var (subject, _) in _watchers)
            if (state.Find(subject) is not { Alive: false, Proved: false }) over.Add(subject);
        foreach (var subject in over) _watchers.Remove(subject);
    }

    private void Add(ProcessRecord observer, ProcessRecord subject)
    {
        _subjects[observer.Id].Add(subject);
        _watchers[subject.Id].Add(observer.Id);
    }

    private static ulong Mix(ulong node, ulong ring)
    {
        ulong z = node + ((ring + 1) * 0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
