using GroupCore.Basics;

namespace GroupCore.Groups;

/// <summary>
/// A layer above a group threw inside a turn, which ends the node: the inner exception of <see cref="Runtime.NodeFaultedException"/>.
/// <see cref="Exception.InnerException"/> is what the layer threw.
/// </summary>
public sealed class LayerFaultException(string group, string layer, Exception fault)
    : Exception($"The layer \"{layer}\" of group '{group}' threw {UserError.Text(fault)}", fault)
{
    /// <summary>Name of the group.</summary>
    public string Group { get; } = group;

    /// <summary>Name of the layer.</summary>
    public string Layer { get; } = layer;
}
