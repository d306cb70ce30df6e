namespace Ida;

/// <summary>Outcome of a put.</summary>
/// <param name="Operation">The id of the put.</param>
/// <param name="IsApplied">
/// Whether it was applied; false only where the put expects versions, and a key has another one. Then nothing was changed. Where
/// <paramref name="Versions"/> is empty though there are keys, nothing is known but that the put is executed: a resolver may have thrown.
/// </param>
/// <param name="Versions">
/// The version of each key after the put, in the order of the call; 0 where a removed key had no value. A removal is told a version too, but
/// to expect absence later, expect 0. Of a put that was not applied, the versions that its keys
/// have. Empty after a put at <see cref="ConsistencyLevel.Ordered"/> that returned before its execution, and where a retry learns that the put was executed but its
/// versions are not remembered.
/// </param>
public readonly record struct PutResult(OperationId Operation, bool IsApplied, PutVersions Versions);
