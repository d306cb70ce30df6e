namespace GroupCore.Groups;

/// <summary>Something that went wrong at this member, mostly with one message; the group goes on.</summary>
/// <param name="Handler">Name of the handler, or its number when it is not registered; else what failed, such as <c>checkpoint</c>.</param>
/// <param name="From">The sender; default where there is none.</param>
/// <param name="Exception">What was thrown; null for a message that no handler takes.</param>
public readonly record struct GroupError(string Handler, MemberRef From, Exception? Exception);
