namespace Ida.Testing.Checking;

/// <summary>One finding of a checker.</summary>
/// <param name="Kind">What it shows.</param>
/// <param name="Key">The key it was found at; null for cycles over several keys.</param>
/// <param name="Message">The finding in words.</param>
/// <param name="Operations">The operations that prove it; for a cycle, each one once, in the order of the cycle.</param>
public sealed record Anomaly(AnomalyKind Kind, string? Key, string Message, IReadOnlyList<HistoryOperation> Operations)
{
    /// <summary>Kind and message.</summary>
    public override string ToString() => $"{Kind}: {Message}";
}
