namespace Ida;

/// <summary>A merge names types for which no resolver was registered before the DHT was enabled; nothing was sent.</summary>
public sealed class NoResolverException(Type key, Type stored, Type incoming, string others = "")
    : DhtException($"No resolver is registered that merges {TypeText.Of(incoming)} into {TypeText.Of(stored)} under keys of {TypeText.Of(key)}. " +
        $"Register one with OnMerge<{TypeText.Of(key)}, {TypeText.Of(stored)}, {TypeText.Of(incoming)}> in EnableDhtAsync, at every member{(others.Length == 0 ? "." : $", or merge one of the types that have one: {others}.")}")
{
    /// <summary>Type of the keys.</summary>
    public Type KeyType { get; } = key;

    /// <summary>Type of the stored values.</summary>
    public Type StoredType { get; } = stored;

    /// <summary>Type of the value put.</summary>
    public Type IncomingType { get; } = incoming;
}
