namespace GroupCore.Groups.Multicast;

/// <summary>First byte of a message record: which order, whether it is a query, and which part of the message this is.</summary>
[Flags]
internal enum MessageKind : byte
{
    None = 0,

    /// <summary>OrderedSend; without it Send.</summary>
    Ordered = 1,

    /// <summary>The payload starts with the number of a query to answer.</summary>
    Query = 2,

    /// <summary>First fragment.</summary>
    First = 4,

    /// <summary>Last fragment; only this one has a place in the order.</summary>
    Last = 8,

    /// <summary>The whole message.</summary>
    Whole = First | Last,

    /// <summary>All bits that are defined.</summary>
    Known = Ordered | Query | Whole,
}
