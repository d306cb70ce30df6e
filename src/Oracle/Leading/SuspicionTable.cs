using System.Collections;
using GroupCore.Membership;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>Suspicions by subject, then by observer. A suspicion that is not repeated for <see cref="Life"/> ends.</summary>
internal sealed class SuspicionTable : IEnumerable<(ProcessId Subject, SortedDictionary<ProcessId, SuspicionReport> Suspicions)>
{
    private const long Life = 2 * Durations.Second;
    private readonly SortedDictionary<ProcessId, SortedDictionary<ProcessId, SuspicionReport>> _suspicions = [];

    /// <summary>Number of processes that are suspected.</summary>
    public int Count => _suspicions.Count;

    /// <summary>The suspicions against a process that is suspected, by observer.</summary>
    public SortedDictionary<ProcessId, SuspicionReport> this[ProcessId subject] => _suspicions[subject];

    public void Clear() => _suspicions.Clear();

    public void Add(ProcessId subject, ProcessId observer, Suspicion evidence, int health, long now)
    {
        if (!_suspicions.TryGetValue(subject, out var suspicions)) _suspicions[subject] = suspicions = [];
        long since = suspicions.TryGetValue(observer, out var earlier) ? earlier.Since : now;
        suspicions[observer] = new(evidence, health, now, since);
    }

    public void Remove(ProcessId subject, ProcessId observer)
    {
        if (!_suspicions.TryGetValue(subject, out var suspicions) || !suspicions.Remove(observer)) return;
        if (suspicions.Count == 0) _suspicions.Remove(subject);
    }

    /// <summary>Number of processes that suspect a process.</summary>
    public int CountOf(ProcessId subject) => _suspicions.TryGetValue(subject, out var suspicions) ? suspicions.Count : 0;

    public void Expire(OracleState state, long now)
    {
        var empty = new List<ProcessId>();
        foreach (var (subject, suspicions) in _suspicions)
        {
            var old = new List<ProcessId>();
            foreach (var (observer, suspicion) in suspicions)
                if (now - suspicion.At > Life || !state.IsAlive(observer)) old.Add(observer);
            foreach (var observer in old) suspicions.Remove(observer);
            if (suspicions.Count == 0 || state.Find(subject) is null) empty.Add(subject);
        }
        foreach (var subject in empty) _suspicions.Remove(subject);
    }

    public IEnumerator<(ProcessId Subject, SortedDictionary<ProcessId, SuspicionReport> Suspicions)> GetEnumerator()
    {
        foreach (var (subject, suspicions) in _suspicions) yield return (subject, suspicions);
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
