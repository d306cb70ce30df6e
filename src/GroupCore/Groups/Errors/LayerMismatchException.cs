namespace GroupCore.Groups;

/// <summary>
/// Another member has a different layer with the name, or with frame types, of a layer of this process: neither layer hears anything of the other.
/// Passed to <see cref="GroupBuilder.OnError"/>, never thrown.
/// </summary>
public sealed class LayerMismatchException(string group, LayerFrames layer, string member, LayerFrames other)
    : Exception($"Group '{group}': {member} has the layer {other}, and this process {layer}. They hear nothing of each other.")
{
    /// <summary>The layer of this process.</summary>
    public LayerFrames Layer { get; } = layer;

    /// <summary>Address of the member.</summary>
    public string Member { get; } = member;

    /// <summary>The layer of the member.</summary>
    public LayerFrames Other { get; } = other;
}
