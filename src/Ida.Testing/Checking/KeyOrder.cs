namespace Ida.Testing.Checking;

/// <summary>
/// What is known of one key: its reads and writes, and what follows for the order of operations. It takes two passes, since an unknown operation counts as applied when any of
/// its keys shows it: <see cref="Observe"/> on all keys comes before <see cref="Connect()"/> on any.
/// </summary>
internal abstract class KeyOrder(Evidence evidence, string name, int index)
{
    protected Evidence Evidence { get; } = evidence;

    protected string Name { get; } = name;

    protected int Index { get; } = index;

    public List<KeyRead> Reads { get; } = [];

    public List<KeyWrite> Writes { get; } = [];

    /// <summary>Judges single reads, and marks the operations whose effect was seen.</summary>
    public abstract void Observe();

    /// <summary>Adds the dependencies between operations.</summary>
    public abstract void Connect();

    /// <summary>
    /// Whether the key shows what the operation wrote: at the end if final states are known, otherwise at any time; null when that cannot be told.
    /// </summary>
    public abstract bool? Shows(int operation);

    protected HistoryOperation Operation(int index) => Evidence.Operations[index];

    protected void Report(AnomalyKind kind, string message, params int[] operations) =>
        Evidence.Report.Add(kind, Name, $"key {Name}: {message}", [.. operations.Select(Operation)]);

    protected void Connect(int from, int to, DependencyKind kind, bool timed = false)
    {
        if (Evidence.IsJudged(from) && Evidence.IsJudged(to)) Evidence.Graph.Add(from, to, Index, kind, timed);
    }

    /// <summary>The write of each value; operations that wrote the same value are reported.</summary>
    protected Dictionary<HistoryValue, KeyWrite> Writers()
    {
        var writers = new Dictionary<HistoryValue, KeyWrite>();
        foreach (var write in Writes)
        {
            if (write.Value.IsAbsent || writers.TryAdd(write.Value, write)) continue;
            Report(AnomalyKind.AmbiguousWriter,
                $"{write.Value} is written twice, so that nothing can be concluded from it", writers[write.Value].Operation, write.Operation);
        }
        return writers;
    }

    /// <summary>Whether a value that was read has a writer, which is then marked as applied. Reports a value that has none, or whose writer failed.</summary>
    protected bool Accept(Dictionary<HistoryValue, KeyWrite> writers, HistoryValue value, int reader)
    {
        if (!writers.TryGetValue(value, out var write))
        {
            Report(AnomalyKind.UnwrittenValue, $"{value} was read, but nobody wrote it", reader);
            return false;
        }
        if (Operation(write.Operation).Outcome == OperationOutcome.Fail)
            Report(AnomalyKind.AbortedRead, $"{value} was read, but its writer failed for certain", write.Operation, reader);
        Evidence.MarkApplied(write.Operation);
        return true;
    }
}
