using GroupCore.Groups.Multicast;

namespace GroupCore.Groups.Dispatch;

/// <summary>One entry of a group's event stream. Bytes are a slice of a slab that the event holds.</summary>
internal struct GroupEvent
{
    public EventKind Kind;

    /// <summary>Sender.</summary>
    public ushort Rank;
    public uint Handler;
    public Slab? Slab;
    public int Offset;
    public int Length;

    /// <summary>By kind: the call that ends with this delivery, the handling of a point-to-point message, the view, the checkpoint.</summary>
    public object? Target;

    /// <summary>Number of the query.</summary>
    public ulong Number;
}
