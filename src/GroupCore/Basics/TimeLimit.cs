namespace GroupCore.Basics;

/// <summary>Times that callers give for waiting: positive, or <see cref="Timeout.InfiniteTimeSpan"/> for no limit.</summary>
internal static class TimeLimit
{
    /// <summary>No due time; a limit of <see cref="Longest"/> nanoseconds or more, which no machine lives to see, also counts as no limit.</summary>
    public const long Never = long.MaxValue;

    private const double Longest = Never / 4.0;

    public static bool IsAllowed(TimeSpan time) => time > TimeSpan.Zero || time == Timeout.InfiniteTimeSpan;

    /// <exception cref="ArgumentOutOfRangeException">It is neither positive nor infinite.</exception>
    public static TimeSpan Checked(TimeSpan time, string parameter) => IsAllowed(time) ? time
        : throw new ArgumentOutOfRangeException(parameter, time, "Timeout must be positive, or Timeout.InfiniteTimeSpan for no limit.");

    /// <summary>When the limit is over, by the clock of a node; <see cref="Never"/> without a limit.</summary>
    public static long Due(long now, TimeSpan time) => time == Timeout.InfiniteTimeSpan || time.TotalNanoseconds >= Longest ? Never : now + (long)time.TotalNanoseconds;
}
