namespace GroupCore.Transport.Mesh;

/// <summary>
/// How much bulk may wait on one link. A stream is first in, first out, so a control frame waits for all bulk that is queued before it. The budget is kept so
/// small that this wait takes no longer than <see cref="MostDelay"/>, as far as that can be measured.
/// </summary>
/// <remarks>
/// The measure is the time from a write until all that was queued at that moment is acknowledged, one sample at a time. A time above <see cref="MostDelay"/>
/// sets the budget to what the link carried in <see cref="MostDelay"/>. A time below half of that doubles the budget, if half of the budget was queued
/// and producers had to wait. So a link of 40 MB/s and more has all of <see cref="LinkLimits.MostBulkBytes"/>, and a link of 10 Mbit/s has
/// <see cref="LinkLimits.LeastBulkBytes"/>, which it sends in 0.2 s.
/// A producer that finds no room is told when half of the budget is free again. Until then no producer gets room, so none overtakes those that wait.
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

    /// <summary>Whether a producer found no room and has not been told yet that there is room again.</summary>
    public bool IsShort { get; private set; }

    /// <summary>Bytes that may be queued beside <paramref name="backlog"/>; 0 or less for none.</summary>
    public long Room(long backlog)
    {
        if (IsShort) return 0;
        long room = Bytes - backlog;
        if (room > 0) return room;
        IsShort = _asked = true;
        // The last frame may have been larger than the room that was left.
        _shortAt = backlog;
        return room;
    }

    /// <summary>
    /// Whether a frame for several peers may be queued although other producers took the room here. Such frames may take up to half of the budget beyond what those
    /// producers queued. A caller may use this once for each time that this link had room: otherwise producers that keep to the budget would never find any.
    /// </summary>
    public readonly bool MayExceed(long backlog) => backlog < Math.Max(Bytes, _shortAt) + (Bytes / 2);

    /// <summary>The node as a whole has no room: the producers of this link wait too.</summary>
    public void Close() => (IsShort, _shortAt) = (true, 0);

    /// <summary>Whether producers that wait may go on; true once for each shortage.</summary>
    public bool TryReopen(long backlog)
    {
        if (!IsShort || backlog > Bytes / 2) return false;
        IsShort = false;
        return true;
    }

    /// <summary>A write leaves, and the stream ends at <paramref name="end"/> now.</summary>
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

    /// <summary>The connection is gone: drops the sample under way, which tells nothing of the next connection.</summary>
    public void Forget() => _mark = -1;
}
