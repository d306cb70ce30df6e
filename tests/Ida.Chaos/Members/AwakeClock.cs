namespace Ida.Chaos.Members;

/// <summary>The time for which this process was awake: a stop of any length counts as a moment, so that no call is late for it.</summary>
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
    /// By how much ticks were late that were so by more than a fifth of a second, in all: what the process missed because it was stopped, or because the machine had no time for it. Shorter pauses
    /// nobody may notice, however many they are.
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
