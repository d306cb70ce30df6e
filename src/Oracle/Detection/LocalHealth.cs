namespace Oracle.Detection;

/// <summary>
/// Measures with a regular timer how this process is scheduled: whether its clock jumped (stopped, suspended, a long collection) and whether it
/// usually runs late. Source: failure-detection.md#a-jump-of-the-clock-proves-nothing, oracle.md#a-voter-that-was-cut-off-deposes-nobody.
/// </summary>
internal sealed class LocalHealth
{
    public const long TickEvery = 100 * Durations.Millisecond;
    private const long Jump = 250 * Durations.Millisecond;
    private const long LateTick = 50 * Durations.Millisecond;
    private const long Habit = 20 * Durations.Millisecond;
    private long _seen;
    private double _lag;

    /// <summary>Whether the last ticks came more than 20 ms late on average: this host schedules late.</summary>
    public bool RunsLate => _lag > Habit;

    /// <summary>The longest delay of a tick, in nanoseconds: a turn took long, or the process was held up.</summary>
    public long LongestDelay { get; private set; }

    public void Begin(long now) => _seen = now;

    /// <summary>Whether the clock jumped since the protocol was last entered. Does not consume the jump, as <see cref="TakeJump"/> does.</summary>
    public bool HasJumped(long now) => now - _seen > TickEvery + Jump;

    /// <summary>Called at each entry to the protocol: returns the length of a new jump in nanoseconds, once; else 0.</summary>
    public long TakeJump(long now)
    {
        if (!HasJumped(now)) return 0;
        long length = now - _seen;
        _seen = now;
        return length;
    }

    /// <summary>A tick that was due at <paramref name="due"/>; true when it came late.</summary>
    public bool Tick(long now, long due)
    {
        _seen = now;
        long late = Math.Max(0, now - due);
        if (late > LongestDelay) LongestDelay = late;
        _lag = (0.9 * _lag) + (0.1 * Math.Min(late, 2 * LateTick));
        return late > LateTick;
    }
}
