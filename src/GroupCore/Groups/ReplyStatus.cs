namespace GroupCore.Groups;

/// <summary>How a member answered a query. Source: multicast.md#a-query-asks-the-members-of-its-view.</summary>
internal enum ReplyStatus : byte
{
    /// <summary>With a value.</summary>
    Value = 0,

    /// <summary>Without a value.</summary>
    Null = 1,

    /// <summary>With an error: the bytes are its text.</summary>
    Abort = 2,
}
