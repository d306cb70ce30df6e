namespace Ida.Shared;

/// <summary>
/// Logical time: microseconds since 2020 in the upper 52 bits, a counter below, never reset. The physical part is the node's clock plus an
/// offset; <see cref="Heard"/> is the highest time met anywhere. Source: dht-order.md#clocks-stay-in-range, dht-view-change.md#no-single-word-moves-the-clocks.
/// </summary>
/// <remarks>
/// A wrong clock costs speed, not range: a member refuses a time that is more than <see cref="Jump"/> ahead of what it expects, and neither
/// a message nor a contribution of one member moves what it expects. Members align their physical clocks at each install, so clocks of
/// honest members differ by far less.
/// </remarks>
internal sealed class HybridClock(long offsetNanoseconds)
{
    /// <summary>Times above this are refused: microseconds since 2020 reach it in 2091, and additions to it do not overflow.</summary>
    public const ulong MaxTime = 1UL << 63;

    private const int CounterBits = 12;

    /// <summary>How far ahead of the expected time a time from another member may be: 1 h.</summary>
    public const ulong Jump = 3_600_000_000UL << CounterBits;

    /// <summary>How far a hint may be ahead of the physical clock before it is clamped: 500 ms.</summary>
    private const ulong Ahead = 500_000UL << CounterBits;

    /// <summary>How far the physical clock may be ahead of the other members' clocks before it is set back: 1 min; a flush seldom takes longer.</summary>
    private const ulong Apart = 60_000_000UL << CounterBits;

    /// <summary>The latest that a physical clock shows, in microseconds: the rest up to the limit is left for the counter.</summary>
    private const long MostMicroseconds = (long)((MaxTime - (2 * Jump)) >> CounterBits);

    private long _offset = Math.Min(offsetNanoseconds, 2 * MostMicroseconds * 1000);
    private ulong _base;

    /// <summary>The highest time seen or given out.</summary>
    public ulong Heard { get; private set; }

    /// <summary>The highest of these that is the time of a commit or a version. Other members are told this time at an install, but not times that a wrong clock made up.</summary>
    public ulong Committed { get; private set; }

    /// <summary>Whether, at the last install, this member had heard a time that was out of range of the aligned clocks.</summary>
    public bool WasAhead { get; private set; }

    public ulong Physical(long now) => (ulong)Math.Clamp((now + _offset) / 1000, 0, MostMicroseconds) << CounterBits;

    /// <summary>The latest time that a member with a right clock sends.</summary>
    public ulong Limit(long now) => Math.Min(Math.Max(Physical(now), _base) + Jump, MaxTime);

    /// <summary>The latest time that may be proposed to a coordinator that suggests <paramref name="hint"/>.</summary>
    public ulong LimitAfter(ulong hint) => Math.Min(Math.Max(Math.Min(hint, MaxTime), _base) + Jump, MaxTime);

    /// <summary>Takes the time of a commit, or a version that was given.</summary>
    public void Commit(ulong time)
    {
        Observe(time);
        Committed = Math.Max(Committed, Math.Min(time, MaxTime));
    }

    /// <summary>
    /// What other members are told of <see cref="Committed"/>: never a time that this member would refuse from one of them. A view may have decided such a time
    /// on the word of one lying member; if it were passed on, the next lie could start from it.
    /// </summary>
    public ulong ToldCommitted(long now) => Math.Min(Committed, Limit(now));

    public void Observe(ulong time) => Heard = Math.Max(Heard, Math.Min(time, MaxTime));

    /// <summary>The time a coordinator suggests for its next operation.</summary>
    public ulong Hint(long now)
    {
        ulong hint = Math.Max(Physical(now), Heard + 1);
        if (hint > _base + Jump) hint = Math.Min(hint, Limit(now));
        Observe(hint);
        return hint;
    }

    /// <summary>Cuts a coordinator's suggestion to half a second ahead, so that a coordinator with a wrong clock costs speed, not range.</summary>
    public ulong Clamp(ulong hint, long now) => Math.Min(hint, Physical(now) + Ahead);

    /// <summary>
    /// At an install: takes the highest time that a member knows to be committed, and the physical clock that most members have reached, so that clocks of different
    /// origin agree roughly. The limit counts from a time that two members have reached (ground): they may have been led ahead of their clocks, and a newcomer follows them.
    /// A time beyond the limit that this member heard and nobody committed came from its own wrong clock, and is forgotten.
    /// </summary>
    public void Align(ulong physical, ulong ground, ulong committed, long now)
    {
        // A clock beyond the range is set to its end.
        _offset = Math.Min(_offset, (MostMicroseconds * 1000) - now);
        ulong own = Physical(now);
        if (physical > own || own - physical > Apart) _offset += ((long)(physical >> CounterBits) - (long)(own >> CounterBits)) * 1000;
        ulong limit = Math.Max(Limit(now), Math.Min(ground + Jump, MaxTime));
        WasAhead = Heard > limit;
        Commit(Math.Min(committed, limit));
        _base = Math.Min(Committed, limit);
        if (WasAhead) Heard = Math.Max(Committed, Math.Max(Physical(now), _base) + 1);
    }
}
