namespace GroupCore.Groups;

/// <summary>Told to the error handler, never thrown: a member's handlers hold the group up.</summary>
public sealed class SlowMemberException(string group, string member, string why) : Exception($"Group '{group}' waits for {member}: {why}.")
{
    /// <summary>Address of the member.</summary>
    public string Member { get; } = member;
}
