namespace Ida.Ordering;

/// <summary>
/// Logical time: microseconds in the upper 52 bits, a counter below, never reset. The physical part is the node's clock plus an offset
/// that only grows; <see cref="Heard"/> is the highest time met anywhere. Source: ida 4.6.
/// </summary>
internal sealed class HybridClock(long offsetNanoseconds)
{
    private const int CounterBits = 12;

    /// <summary>How far a hint may be ahead of the physical clock before it is clamped: 500 ms.</summary>
    private const ulong Ahead = 500_000UL << CounterBits;

    private long _offset = offsetNanoseconds;

    /// <summary>The highest time seen or given out.</summary>
    public ulong Heard { get; private set; }

    public ulong Physical(long now) => (ulong)Math.Max(0, (now + _offset) / 1000) << CounterBits;

    public void Observe(ulong time) => Heard = Math.Max(Heard, time);

    /// <summary>The time a coordinator suggests for its next operation.</summary>
    public ulong Hint(long now) => Heard = Math.Max(Physical(now), Heard + 1);

    /// <summary>A coordinator with a wrong clock costs speed, not range: what it suggests is cut to half a second ahead.</summary>
    public ulong Clamp(ulong hint, long now) => Math.Min(hint, Physical(now) + Ahead);

    /// <summary>At an install: moves the physical clock up to the latest among the members, so that clocks of different origin agree roughly.</summary>
    public void Align(ulong physical, long now)
    {
        ulong own = Physical(now);
        if (physical > own) _offset += (long)((physical - own) >> CounterBits) * 1000;
    }
}
