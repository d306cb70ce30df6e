namespace Ida.Testing.Checking;

/// <summary>
/// Judges whether a history is strictly serializable: whether one total order of the completed operations, and of some of unknown outcome,
/// explains everything that was read, and keeps real time.
/// </summary>
/// <remarks>
/// Method (that of Adya's dependency graphs, and of Elle by Kingsbury and Alvaro, VLDB 2020): unique values tell which operation wrote what was read, and lists and versions
/// tell the order of writes. Each pair of operations that touch a key gives an order between them: wrote before overwrote (ww), wrote before read (wr), read before overwrote
/// (rw). Completed before invoked gives another (real time). A history is explained by a serial order exactly when these together have no cycle. What cannot be known (an
/// operation of unknown outcome that nobody saw, an order nothing tells) is never held against the system, so a finding is always a violation; the converse holds as far as the
/// workload reads enough: see the counts of the report. Real time is a chain of one node per completion, so the whole graph is linear in the history.
/// Beside cycles it reports what is wrong with single values and with the final states; see <see cref="AnomalyKind"/>.
/// Operations of level weak are not ordered; those of level ordered are, but not by real time.
/// </remarks>
public static class StrictSerializabilityChecker
{
    /// <summary>Judges a history.</summary>
    public static CheckReport Check(History history, SerializabilityOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(history);
        options ??= new();
        var report = new CheckReport(options.MostPerKind);
        var operations = history.Operations.ToList();
        if (history.Finals.Count > 0) operations.Add(new(FinalStates.Merge(history, options.DisjointReplicaSets, report)));
        var graph = new DependencyGraph(operations.Count);
        var evidence = new Evidence(operations, history.Finals.Count > 0, options.RealTime, graph, report);
        var keys = KeyTable.Build(evidence);
        foreach (var key in keys.Orders) key.Observe();
        foreach (var key in keys.Orders) key.Connect();
        keys.CheckAtomicity();
        report.Dependencies = graph.Edges;
        RealTimeOrder.AddFinal(evidence);
        if (options.RealTime) RealTimeOrder.Add(evidence);
        graph.Freeze();
        CycleReport.Add(evidence, keys, options.RealTime);
        report.Unknown = history.Operations.Count(o => o.Outcome == OperationOutcome.Info);
        for (int i = 0; i < history.Operations.Count; i++)
        {
            if (evidence.IsJudged(i)) report.Judged++;
            if (evidence.IsJudged(i)) report.ReadValues += operations[i].Reads.Count;
        }
        return report;
    }
}
