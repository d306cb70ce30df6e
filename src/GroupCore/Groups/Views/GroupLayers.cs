using GroupCore.Groups.Shared;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>
/// The protocols above a group at this member: a port for each layer that the process declares. On the loop; lives as long as the membership.
/// Source: views-and-flush.md#each-layer-has-its-name-and-its-frame-types.
/// </summary>
internal sealed class GroupLayers
{
    private readonly LayerTable _table;
    private readonly RoomTurns _roomTurns;

    public GroupLayers(GroupProtocol group, LayerTable table)
    {
        (_table, _roomTurns) = (table, new(table.Count));
        All = new LayerPort[table.Count];
        for (int i = 0; i < All.Length; i++) All[i] = new(group, table[i]);
    }

    /// <summary>The ports, including those of layers that are not attached, in the order of their frame types.</summary>
    public LayerPort[] All { get; }

    /// <summary>Whether any layer is attached.</summary>
    public bool IsAny => Array.Exists(All, static port => port.HasLayer);

    /// <summary>Whether a layer keeps this member, which was asked to leave.</summary>
    public bool KeepMember => Array.Exists(All, static port => port.KeepsMember);

    /// <summary>The port of a layer; null when it is not declared. From any thread.</summary>
    public LayerPort? this[LayerFrames layer] => _table.IndexOf(layer) is >= 0 and var index ? All[index] : null;

    /// <summary>The port of the layer that has a frame type; null when none has it.</summary>
    public LayerPort? Of(FrameType type) => _table.IndexOf(type) is >= 0 and var index ? All[index] : null;

    /// <summary>The attached layer of that type; null when there is none. From any thread.</summary>
    public T? Find<T>()
        where T : class, IGroupLayer
    {
        foreach (var port in All)
            if (port.Attached is T found) return found;
        return null;
    }

    /// <summary>What the attached layers contribute to a view change, one part each.</summary>
    public List<byte[]> Contribute()
    {
        var parts = new List<byte[]>();
        foreach (var port in All)
            if (port.HasLayer) parts.Add(port.Contribute());
        return parts;
    }

    /// <summary>The parts of a flush by layer; what no layer can have written is left out, at all members alike.</summary>
    public static List<LayerPart> Read(List<LayerContribution> contributions)
    {
        var parts = new List<LayerPart>(contributions.Count);
        foreach (var (member, bytes) in contributions)
            if (LayerFrames.ReadHead(bytes.Span, out int head) is { } layer) parts.Add(new(member, layer, bytes[head..]));
        return parts;
    }

    /// <summary>A link has room, or its member has installed the view. The layers take turns at being first (<see cref="RoomTurns"/>).</summary>
    public void OnRoom(int rank)
    {
        if (All.Length == 0) return;
        int first = _roomTurns.Next(rank);
        for (int i = 0; i < All.Length; i++) All[(first + i) % All.Length].OnRoom(rank);
    }
}
