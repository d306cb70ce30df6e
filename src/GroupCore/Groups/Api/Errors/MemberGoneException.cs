namespace GroupCore.Groups;

/// <summary>The member a call was for has left the group; the call was not executed.</summary>
public sealed class MemberGoneException(string group, string member) : InvalidOperationException($"{member} is no longer a member of group '{group}'; the message was not sent.");
