namespace GroupCore.Groups;

/// <summary>
/// Another member has a different layer with the name, or with frame types, of a layer of this process: neither layer hears anything of the other.
/// Passed to <see cref="GroupBuilder.OnError"/>, never thrown.
/// </summary>
public sealed class LayerMismatchException : Exception
{
    internal LayerMismatchException(string group, LayerFrames layer, string member, LayerFrames other)
        : base($"Group '{group}': {member} has the layer {other}, and this process {layer}. They hear nothing of each other.") => (Layer, Member, Other) = (layer, member, other);

    /// <summary>The layer of this process.</summary>
    internal LayerFrames Layer { get; }

    /// <summary>Address of the member.</summary>
    public string Member { get; }

    /// <summary>The layer of the member.</summary>
    internal LayerFrames Other { get; }
}
