namespace GroupCore.Wire.Contracts;

/// <summary>Kinds of types that are treated alike wherever they are found.</summary>
internal static class TypeKinds
{
    /// <summary>Why types that name places in the memory of one process are refused, as the rest of a sentence.</summary>
    public const string OneProcess = "has a meaning in one process only.";

    /// <summary>Whether a type names places in a process's memory. Such a type cannot be the argument of our generic types.</summary>
    public static bool IsOfOneProcess(Type type) => type.IsByRef || type.IsByRefLike || type.IsPointer || type.IsFunctionPointer;

    public static bool IsOfBaseLibrary(Type type) => type.Namespace is { } space && (space == "System" || space.StartsWith("System.", StringComparison.Ordinal));
}
