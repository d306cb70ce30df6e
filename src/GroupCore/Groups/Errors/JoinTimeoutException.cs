namespace GroupCore.Groups;

/// <summary>A join made no progress for <see cref="GroupHostOptions.JoinTimeout"/>; it is undone.</summary>
public sealed class JoinTimeoutException(string group, TimeSpan timeout, string waitedFor)
    : TimeoutException($"Joining group '{group}' made no progress for {timeout.TotalSeconds:0.###} s; it waited for {waitedFor}.")
{
    /// <summary>What the join waited for.</summary>
    public string WaitedFor { get; } = waitedFor;
}
