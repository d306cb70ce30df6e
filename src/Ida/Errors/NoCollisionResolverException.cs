namespace Ida;

/// <summary>A merge names types for which no resolver was registered before the DHT was enabled; nothing was sent.</summary>
public sealed class NoCollisionResolverException(Type key, Type stored, Type incoming)
    : DhtException($"No resolver is registered that merges {TypeText.Of(incoming)} into {TypeText.Of(stored)} under keys of {TypeText.Of(key)}. " +
        $"Register one with OnCollision<{TypeText.Of(key)}, {TypeText.Of(stored)}, {TypeText.Of(incoming)}> in EnableDhtAsync, at every member.")
{
    /// <summary>Type of the keys.</summary>
    public Type KeyType { get; } = key;

    /// <summary>Type of the stored values.</summary>
    public Type StoredType { get; } = stored;

    /// <summary>Type of the value put.</summary>
    public Type IncomingType { get; } = incoming;
}
