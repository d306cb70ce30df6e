using System.Collections;
using GroupCore.Membership;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>Reports by subject, then by observer. A report that is not repeated for <see cref="Life"/> ends.</summary>
internal sealed class ReportTable : IEnumerable<(ProcessId Subject, SortedDictionary<ProcessId, Report> Reports)>
{
    private const long Life = 2 * Durations.Second;
    private readonly SortedDictionary<ProcessId, SortedDictionary<ProcessId, Report>> _reports = [];

    /// <summary>Number of processes that are suspected.</summary>
    public int Count => _reports.Count;

    /// <summary>The reports against a suspected process.</summary>
    public SortedDictionary<ProcessId, Report> this[ProcessId subject] => _reports[subject];

    public void Clear() => _reports.Clear();

    public void Add(ProcessId subject, ProcessId observer, Accusation evidence, int health, long now)
    {
        if (!_reports.TryGetValue(subject, out var reports)) _reports[subject] = reports = [];
        long since = reports.TryGetValue(observer, out var earlier) ? earlier.Since : now;
        reports[observer] = new(evidence, health, now, since);
    }

    public void Remove(ProcessId subject, ProcessId observer)
    {
        if (!_reports.TryGetValue(subject, out var reports) || !reports.Remove(observer)) return;
        if (reports.Count == 0) _reports.Remove(subject);
    }

    /// <summary>Number of processes that report a process.</summary>
    public int CountOf(ProcessId subject) => _reports.TryGetValue(subject, out var reports) ? reports.Count : 0;

    public void Expire(OracleState state, long now)
    {
        var empty = new List<ProcessId>();
        foreach (var (subject, reports) in _reports)
        {
            var old = new List<ProcessId>();
            foreach (var (observer, report) in reports)
                if (now - report.At > Life || !state.IsAlive(observer)) old.Add(observer);
            foreach (var observer in old) reports.Remove(observer);
            if (reports.Count == 0 || state.Find(subject) is null) empty.Add(subject);
        }
        foreach (var subject in empty) _reports.Remove(subject);
    }

    public IEnumerator<(ProcessId Subject, SortedDictionary<ProcessId, Report> Reports)> GetEnumerator()
    {
        foreach (var (subject, reports) in _reports) yield return (subject, reports);
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
