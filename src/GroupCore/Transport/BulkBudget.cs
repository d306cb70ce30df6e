namespace GroupCore.Transport;

/// <summary>
/// How much bulk may wait on one link. A stream is first in first out, so what is queued before a control frame is what the control frame
/// waits for: the budget is kept so small that this takes no longer than <see cref="MostDelay"/>, as far as the measure of it goes.
/// </summary>
/// <remarks>
/// Measure: the time from a write until all that was queued at it is acknowledged, one sample at a time. Longer than
/// <see cref="MostDelay"/> sets the budget to what the link carried in it; shorter than half of it doubles the budget, if half of it was
/// queued and producers had to wait. So a link of
/// 40 MB/s and more has all of <see cref="LinkLimits.MostBulkBytes"/>, and a link of 10 Mbit/s <see cref="LinkLimits.LeastBulkBytes"/>,
/// which it takes 0.2 s to send.
/// Who finds no room hears of it when half of the budget is free again, and until then nobody gets any: so nobody overtakes those that wait.
/// </remarks>
internal struct BulkBudget()
{
    /// <summary>How long a control frame may wait for bulk, in nanoseconds.</summary>
    public const long MostDelay = 100_000_000;

    private const int FirstBytes = 1 << 20;
    private long _mark = -1;
    private long _backlog;
    private long _markedAt;
    private bool _asked;
    private long _shortAt;

    /// <summary>Unacknowledged bytes up to which more may be queued.</summary>
    public int Bytes { get; private set; } = FirstBytes;

    /// <summary>Whether somebody found no room and was not told yet that there is some.</summary>
    public bool IsShort { get; private set; }

    /// <summary>What may be queued beside <paramref name="backlog"/>; 0 or less for nothing.</summary>
    public long Room(long backlog)
    {
        if (IsShort) return 0;
        long room = Bytes - backlog;
        if (room > 0) return room;
        IsShort = _asked = true;
        // The last frame may have been larger than what there was room for.
        _shortAt = backlog;
        return room;
    }

    /// <summary>
    /// Whether what goes to several peers at once may go although others took the room here: with up to half of the budget beyond what those
    /// queued. Who asks does so once for each time that this link had room: else those that keep to the budget would never have any.
    /// </summary>
    public readonly bool MayExceed(long backlog) => backlog < Math.Max(Bytes, _shortAt) + (Bytes / 2);

    /// <summary>Something else than this link has no room: its producers wait all the same.</summary>
    public void Close() => (IsShort, _shortAt) = (true, 0);

    /// <summary>Whether those that wait may go on; true once for each time.</summary>
    public bool TryReopen(long backlog)
    {
        if (!IsShort || backlog > Bytes / 2) return false;
        IsShort = false;
        return true;
    }

    /// <summary>A write leaves while the stream ends at <paramref name="end"/>.</summary>
    public void OnWrite(long end, long backlog, long now)
    {
        if (_mark >= 0) return;
        (_mark, _backlog, _markedAt, _asked) = (end, backlog, now, IsShort);
    }

    /// <summary>The other end has everything before <paramref name="offset"/>.</summary>
    public void OnAcknowledged(long offset, long now)
    {
        if (_mark < 0 || offset < _mark) return;
        _mark = -1;
        long delay = now - _markedAt;
        if (delay > MostDelay) Bytes = (int)Math.Clamp((long)((double)_backlog * MostDelay / delay), LinkLimits.LeastBulkBytes, Bytes);
        else if (delay < MostDelay / 2 && _asked && _backlog >= Bytes / 2) Bytes = Math.Min(Bytes * 2, LinkLimits.MostBulkBytes);
    }

    /// <summary>Nothing carries writes any more: what is under way tells nothing of the next connection.</summary>
    public void Forget() => _mark = -1;
}
