namespace GroupCore.Groups.Calls;

/// <summary>What a message record is: in which order it is delivered, whether it is a query, and which part of its message it is.</summary>
[Flags]
internal enum MessageKind : byte
{
    None = 0,

    /// <summary>Sent in the total order; without this flag first in, first out.</summary>
    Ordered = 1,

    /// <summary>The payload starts with the number of the query that is to be answered.</summary>
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
