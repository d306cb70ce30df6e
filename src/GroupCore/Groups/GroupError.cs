namespace GroupCore.Groups;

/// <summary>Something that went wrong at this member, mostly with one message; the group goes on.</summary>
/// <param name="Handler">Name of the handler, or its number if none is registered; otherwise what failed, such as <c>checkpoint</c>.</param>
/// <param name="From">The sender, or the member that is slow or has another layer; default where there is none.</param>
/// <param name="Exception">What was thrown; or a <see cref="SlowMemberException"/> or <see cref="LayerMismatchException"/>; null for a message that no handler takes.</param>
public readonly record struct GroupError(string Handler, MemberRef From, Exception? Exception);
