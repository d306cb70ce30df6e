namespace Ida.Testing.Checking;

/// <summary>Adds real time to the graph: a chain of one auxiliary node per completion gives exactly "completed before invoked", with three edges per operation.</summary>
internal static class RealTimeOrder
{
    /// <summary>The final state comes after every judged operation, also after those without real-time order.</summary>
    public static void AddFinal(Evidence evidence)
    {
        if (!evidence.HasFinals) return;
        for (int i = 0; i < evidence.Final; i++)
            if (evidence.IsJudged(i)) evidence.Graph.Add(i, evidence.Final, -1, DependencyKind.RealTime);
    }

    public static void Add(Evidence evidence)
    {
        var strict = new List<int>();
        for (int i = 0; i < evidence.Operations.Count; i++)
            if (evidence.IsJudged(i) && evidence.Operations[i].Level == HistoryLevel.Strict && !evidence.Operations[i].IsFinal) strict.Add(i);
        AddChain(evidence, strict);
        foreach (var client in strict.Where(i => evidence.Operations[i].Client.Length > 0).GroupBy(i => evidence.Operations[i].Client, StringComparer.Ordinal))
            AddClient(evidence, [.. client]);
    }

    private static void AddChain(Evidence evidence, List<int> strict)
    {
        var graph = evidence.Graph;
        var starts = strict.OrderBy(i => evidence.Operations[i].Invoked).ToList();
        var ends = strict.Where(i => evidence.Operations[i].Completed != long.MaxValue).OrderBy(i => evidence.Operations[i].Completed).ToList();
        int ended = 0, last = -1;
        foreach (int start in starts)
        {
            for (; ended < ends.Count && evidence.Operations[ends[ended]].Completed < evidence.Operations[start].Invoked; ended++)
            {
                int node = graph.AddAuxiliary();
                graph.Add(ends[ended], node, -1, DependencyKind.RealTime, true);
                if (last >= 0) graph.Add(last, node, -1, DependencyKind.Through, true);
                last = node;
            }
            if (last >= 0) graph.Add(last, start, -1, DependencyKind.Through, true);
        }
    }

    /// <summary>
    /// The operations of a client that does one at a time are in order even if one begins in the instant in which the last one ended, as happens in virtual time.
    /// </summary>
    private static void AddClient(Evidence evidence, List<int> client)
    {
        var inOrder = client.Select(i => (Index: i, Operation: evidence.Operations[i]))
            .OrderBy(o => o.Operation.Invoked).ThenBy(o => o.Operation.Completed).ToList();
        for (int i = 1; i < inOrder.Count; i++)
            if (inOrder[i - 1].Operation.Completed > inOrder[i].Operation.Invoked) return;
        for (int i = 1; i < inOrder.Count; i++)
        {
            var (earlier, later) = (inOrder[i - 1], inOrder[i]);
            bool isOrdered = earlier.Operation.Completed == later.Operation.Invoked && later.Operation.Completed > later.Operation.Invoked;
            if (isOrdered) evidence.Graph.Add(earlier.Index, later.Index, -1, DependencyKind.RealTime, true);
        }
    }
}
