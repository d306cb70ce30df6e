namespace Ida.Chaos.Members;

/// <summary>The time for which this process was awake. A stop of any length counts as a moment, so no call is late because of it.</summary>
internal sealed class AwakeClock(TimeProvider time)
{
    private static readonly TimeSpan s_most = TimeSpan.FromMilliseconds(500), s_usual = TimeSpan.FromMilliseconds(100), s_late = TimeSpan.FromMilliseconds(300);
    private readonly Lock _lock = new();
    private long _last = time.GetTimestamp();
    private TimeSpan _now, _heldUp;

    public TimeSpan Now
    {
        get
        {
            lock (_lock) return _now;
        }
    }

    /// <summary>
    /// The sum of the delays of all ticks that were late by more than a fifth of a second: what the process missed because it was stopped, or because the machine had no time for it. Nobody may
    /// notice shorter pauses, however many there are.
    /// </summary>
    public TimeSpan HeldUp
    {
        get
        {
            lock (_lock) return _heldUp;
        }
    }

    /// <summary>To be called ten times a second.</summary>
    public void Tick()
    {
        lock (_lock)
        {
            long now = time.GetTimestamp();
            var passed = time.GetElapsedTime(_last, now);
            (_last, _now) = (now, _now + (passed < s_most ? passed : s_most));
            if (passed > s_late) _heldUp += passed - s_usual;
        }
    }
}
