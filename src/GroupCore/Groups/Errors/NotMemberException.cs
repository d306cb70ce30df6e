using GroupCore.Basics;

namespace GroupCore.Groups;

/// <summary>This process is not, or no longer, a member of the group.</summary>
public sealed class NotMemberException(string group, string reason) : InvalidOperationException($"Not a member of group '{group}': {reason}."), ISharedError
{
    /// <summary>Name of the group.</summary>
    public string Group { get; } = group;

    Exception ISharedError.Copy() => new NotMemberException(Group, reason);
}
