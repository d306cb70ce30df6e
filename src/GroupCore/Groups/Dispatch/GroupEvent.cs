using GroupCore.Groups.Buffers;

namespace GroupCore.Groups.Dispatch;

/// <summary>One entry of a group's event stream. Bytes are a slice of a slab that the event holds.</summary>
internal struct GroupEvent
{
    public EventKind Kind;

    /// <summary>Rank of the sender.</summary>
    public ushort Rank;
    public uint Handler;
    public MessageSlab? Slab;
    public int Offset;
    public int Length;

    /// <summary>By kind: the call that ends with this delivery, the view, the checkpoint.</summary>
    public object? Target;

    /// <summary>Number of the query.</summary>
    public ulong Number;

    /// <summary>For a point-to-point message: its number in the table of those being handled.</summary>
    public ulong Handling;
}
