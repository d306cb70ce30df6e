using System.Diagnostics;

namespace Ida.Chaos.Members;

/// <summary>The time for which this process was awake: a stop of any length counts as a moment, so that no call is late for it.</summary>
internal sealed class AwakeClock
{
    private static readonly TimeSpan s_most = TimeSpan.FromMilliseconds(500);
    private readonly Lock _lock = new();
    private long _last = Stopwatch.GetTimestamp();
    private TimeSpan _now;

    public TimeSpan Now
    {
        get
        {
            lock (_lock) return _now;
        }
    }

    /// <summary>To be called several times a second.</summary>
    public void Tick()
    {
        lock (_lock)
        {
            long now = Stopwatch.GetTimestamp();
            var passed = Stopwatch.GetElapsedTime(_last, now);
            (_last, _now) = (now, _now + (passed < s_most ? passed : s_most));
        }
    }
}
