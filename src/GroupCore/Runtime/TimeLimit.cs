namespace GroupCore.Runtime;

/// <summary>Times that callers give for waiting: positive, or <see cref="Timeout.InfiniteTimeSpan"/> for no limit.</summary>
internal static class TimeLimit
{
    /// <summary>No due time: what would lie beyond a lifetime of machines counts as that too.</summary>
    public const long Never = long.MaxValue;

    private const double Longest = Never / 4.0;

    public static bool IsAllowed(TimeSpan time) => time > TimeSpan.Zero || time == Timeout.InfiniteTimeSpan;

    /// <exception cref="ArgumentOutOfRangeException">It is neither positive nor infinite.</exception>
    public static TimeSpan Checked(TimeSpan time, string parameter) => IsAllowed(time) ? time
        : throw new ArgumentOutOfRangeException(parameter, time, "The Timeout of a call is positive, or Timeout.InfiniteTimeSpan for none.");

    /// <summary>When it is over, by the clock of a node; <see cref="Never"/> without a limit.</summary>
    public static long Due(long now, TimeSpan time) => time == Timeout.InfiniteTimeSpan || time.TotalNanoseconds >= Longest ? Never : now + (long)time.TotalNanoseconds;
}
