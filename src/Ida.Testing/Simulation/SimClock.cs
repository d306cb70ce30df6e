namespace Ida.Testing;

/// <summary>A node's own clock over virtual time: an offset and a rate. Both are in nanoseconds.</summary>
internal sealed class SimClock(long offset, double drift)
{
    private long _virtualBase;
    private long _localBase = offset;

    public double Drift { get; private set; } = drift;

    public long Local(long virtualTime)
    {
        long elapsed = virtualTime - _virtualBase;
        return _localBase + elapsed + (long)(elapsed * Drift);
    }

    /// <summary>The first virtual time at which this clock shows at least <paramref name="local"/>.</summary>
    public long Virtual(long local)
    {
        double elapsed = (local - _localBase) / (1 + Drift);
        if (elapsed > long.MaxValue / 4) return long.MaxValue;
        long time = _virtualBase + (long)elapsed;
        while (Local(time) < local) time++;
        return time;
    }

    public void SetDrift(long virtualNow, double drift)
    {
        _localBase = Local(virtualNow);
        _virtualBase = virtualNow;
        Drift = drift;
    }

    /// <summary>Sets the clock forward, or back, from one moment to the next.</summary>
    public void Step(long virtualNow, long by)
    {
        _localBase = Local(virtualNow) + by;
        _virtualBase = virtualNow;
    }
}
