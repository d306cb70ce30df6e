namespace GroupCore.Groups;

/// <summary>Something that went wrong with one message at this member; the group goes on.</summary>
/// <param name="Handler">Name of the handler; its number when it is not registered.</param>
/// <param name="From">The sender.</param>
/// <param name="Exception">What was thrown; null for a message that no handler takes.</param>
public readonly record struct GroupError(string Handler, MemberRef From, Exception? Exception);
