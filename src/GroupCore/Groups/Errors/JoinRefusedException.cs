namespace GroupCore.Groups;

/// <summary>The membership service refused a join, or the group's state could not be saved, sent or loaded.</summary>
public sealed class JoinRefusedException(string group, string reason) : InvalidOperationException($"Joining group '{group}' was refused: {reason}.");
