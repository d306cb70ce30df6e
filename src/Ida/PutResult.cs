namespace Ida;

/// <summary>Outcome of a put.</summary>
/// <param name="Operation">The id of the put.</param>
/// <param name="IsApplied">
/// Whether it was applied; false only if the put expects versions, and a key has another one. Then nothing was changed. If
/// <paramref name="Versions"/> is empty though there are keys, it is known only that the put is executed: a resolver may have thrown.
/// </param>
/// <param name="Versions">
/// The version of each key after the put, in the order of the call; 0 if a removed key had no value. A removal gets a version too, but
/// to expect absence later, expect 0. For a put that was not applied, the versions that its keys
/// have. Empty after a put at <see cref="ConsistencyLevel.Ordered"/> that returned before its execution, and when a retry learns that the put was executed but its
/// versions are not remembered.
/// </param>
public readonly record struct PutResult(OperationId Operation, bool IsApplied, PutVersions Versions);
