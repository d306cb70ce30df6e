namespace GroupCore.Wire.Contracts;

/// <summary>Types for which the same holds wherever they are met.</summary>
internal static class TypeKinds
{
    /// <summary>Why those of one process are refused, as the rest of a sentence.</summary>
    public const string OneProcess = "means something in one process only.";

    /// <summary>Whether a type names places in a process's memory; none of such can be the argument of a generic type of ours.</summary>
    public static bool IsOfOneProcess(Type type) => type.IsByRef || type.IsByRefLike || type.IsPointer || type.IsFunctionPointer;

    public static bool IsOfBaseLibrary(Type type) => type.Namespace is { } space && (space == "System" || space.StartsWith("System.", StringComparison.Ordinal));
}
