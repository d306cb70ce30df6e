namespace Ida;

/// <summary>Outcome of a put.</summary>
/// <param name="Operation">The id of the put.</param>
/// <param name="Versions">
/// The version each pair was given, in the order of the call; for an unchanged entry, the version it has. Empty after a put at
/// <see cref="ConsistencyLevel.Ordered"/> that returned before its execution, and where a retry learns that the put was executed but its
/// versions are not remembered.
/// </param>
/// <param name="Errors">Pairs whose resolver failed; empty when none did.</param>
public readonly record struct PutResult(OperationId Operation, PutVersions Versions, IReadOnlyList<PutError> Errors);
