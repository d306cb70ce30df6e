namespace GroupCore.Groups;

/// <summary>The member that a call was for is no longer in the group; nothing was sent.</summary>
public sealed class MemberGoneException(string group, string member) : InvalidOperationException($"{member} is no longer a member of group '{group}'; the message was not sent.");
