namespace GroupCore.Groups;

/// <summary>A member's handlers hold the group up. Passed to <see cref="GroupBuilder.OnError"/>, never thrown.</summary>
public sealed class SlowMemberException(string group, string member, string why) : Exception($"Group '{group}' waits for {member}: {why}.")
{
    /// <summary>Address of the member.</summary>
    public string Member { get; } = member;
}
