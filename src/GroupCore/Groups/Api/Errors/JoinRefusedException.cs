namespace GroupCore.Groups;

/// <summary>The membership service refused a join.</summary>
public sealed class JoinRefusedException(string group, string reason) : InvalidOperationException($"Joining group '{group}' was refused: {reason}.");
