namespace Oracle.State.Operations;

/// <summary>Excludes processes from everything, or proves the death of excluded ones.</summary>
internal sealed record Exclude(IReadOnlyList<Exclusion> Exclusions) : Operation;
