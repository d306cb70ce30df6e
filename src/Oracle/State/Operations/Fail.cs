namespace Oracle.State.Operations;

/// <summary>Processes are excluded from everything, or the death of excluded ones is proved.</summary>
internal sealed record Fail(IReadOnlyList<Failure> Failures) : Operation;
