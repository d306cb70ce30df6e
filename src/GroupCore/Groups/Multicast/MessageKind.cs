namespace GroupCore.Groups.Multicast;

/// <summary>What a message record is: which order, whether it is a query, and which part of the message.</summary>
[Flags]
internal enum MessageKind : byte
{
    None = 0,

    /// <summary>Sent in the total order; without it first in first out.</summary>
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
