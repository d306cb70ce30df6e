namespace Oracle.State.Operations;

/// <summary>Excludes processes from the system and all its groups, or says that the death of excluded ones is proved.</summary>
internal sealed record Exclude(IReadOnlyList<Exclusion> Exclusions) : Operation;
