namespace Ida.Coordination;

/// <summary>
/// Links whose room is kept for one operation until all links that it needs have some. Links that are always full get room one after the
/// other, and operations on one member would fill each before the next has any: an operation on several members would never be sent.
/// </summary>
/// <remarks>
/// One operation holds at a time, only after a member for which it waited has taken something, and only for a limited share of the time: one
/// of its members may have stopped meanwhile, and the hold would hold up operations on the others.
/// </remarks>
internal sealed class RoomHold
{
    // Longest: in this time a link carries everything that may be queued on it.
    private const long Longest = 100_000_000, Pause = 3;
    private readonly List<int> _ranks = [];
    private ClientOperation? _holder;
    private long _since, _next;

    public bool MayBegin(long now) => _holder is null && now >= _next;

    public void Begin(ClientOperation op, List<int> ranks, long now)
    {
        (_holder, _since) = (op, now);
        _ranks.AddRange(ranks);
    }

    /// <summary>Whether this member's room is kept from the operation, for another one.</summary>
    public bool KeepsFrom(ClientOperation op, int rank) => _holder is not null && _holder != op && _ranks.Contains(rank);

    public bool IsOver(long now) => _holder is not null && now - _since >= Longest;

    /// <summary>The operation was sent, or has ended. False if it held nothing.</summary>
    public bool End(ClientOperation op, long now)
    {
        if (_holder != op) return false;
        End(now);
        return true;
    }

    public void End(long now)
    {
        if (_holder is not null) _next = now + (Pause * (now - _since));
        _holder = null;
        _ranks.Clear();
    }
}
