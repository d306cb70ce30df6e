namespace Ida;

/// <summary>A merge brings a type for which its map has no resolver; nothing was sent.</summary>
public sealed class NoResolverException(string map, Type stored, Type incoming, IReadOnlyList<string> others)
    : DhtMisuseException($"The map \"{map}\" has no resolver that merges {TypeText.Of(incoming)} into its values of {TypeText.Of(stored)}. " +
        $"Declare one with OnMerge<{TypeText.Of(incoming)}> in EnableDhtAsync, at every member{(others.Count == 0 ? "." : $", or merge one of the types that have one: {string.Join(", ", others)}.")}")
{
    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>Type of the stored values.</summary>
    public Type StoredType { get; } = stored;

    /// <summary>Type of the value that was to be merged.</summary>
    public Type IncomingType { get; } = incoming;
}
