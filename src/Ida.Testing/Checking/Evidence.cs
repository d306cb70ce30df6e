namespace Ida.Testing.Checking;

/// <summary>What the analyses of all keys share: operations by index, which of them count as applied, the graph, the report.</summary>
internal sealed class Evidence
{
    private readonly bool[] _applied;

    public Evidence(IReadOnlyList<HistoryOperation> operations, bool hasFinals, bool realTime, DependencyGraph graph, CheckReport report)
    {
        (Operations, HasFinals, RealTime, Graph, Report) = (operations, hasFinals, realTime, graph, report);
        _applied = new bool[operations.Count];
        for (int i = 0; i < _applied.Length; i++) _applied[i] = operations[i].Outcome == OperationOutcome.Ok;
    }

    public IReadOnlyList<HistoryOperation> Operations { get; }

    /// <summary>Whether the history has final states; the last operation then reads them.</summary>
    public bool HasFinals { get; }

    /// <summary>Whether strict operations must keep real-time order.</summary>
    public bool RealTime { get; }

    /// <summary>The index of the operation that reads the final states.</summary>
    public int Final => Operations.Count - 1;

    public DependencyGraph Graph { get; }

    public CheckReport Report { get; }

    /// <summary>Whether the operation took effect for certain: completed, or unknown and its effect was seen.</summary>
    public bool IsApplied(int operation) => _applied[operation];

    /// <summary>Whether it takes part in the order: applied, and not weak.</summary>
    public bool IsJudged(int operation) => _applied[operation] && Operations[operation].Level != HistoryLevel.Weak;

    public void MarkApplied(int operation) => _applied[operation] = true;
}
