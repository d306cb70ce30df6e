namespace GroupCore.Groups;

/// <summary>One member's answer to a query; the rank is that of the view in which the query was delivered.</summary>
public readonly record struct MemberReply<TReply>(MemberRef From, TReply Value);
