namespace Ida;

/// <summary>The resolver of a merge threw: nothing of the operation was executed, nor will be. Repeated, it fails again as long as the entry is the same.</summary>
public sealed class ResolverException(OperationId operation, string map, string key, string error)
    : DhtNotExecutedException($"The resolver of the map \"{map}\" threw for the key {key}: {error}. Nothing was executed.")
{
    /// <summary>The id of the operation.</summary>
    public OperationId Operation { get; } = operation;

    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>The key, as text.</summary>
    public string Key { get; } = key;
}
