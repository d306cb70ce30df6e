namespace GroupCore.Groups;

/// <summary>This process is not, or no longer, a member of the group.</summary>
public sealed class NotMemberException(string group, string reason) : InvalidOperationException($"Not a member of group '{group}': {reason}.")
{
    /// <summary>Name of the group.</summary>
    public string Group { get; } = group;
}
