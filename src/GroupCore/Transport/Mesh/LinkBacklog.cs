namespace GroupCore.Transport.Mesh;

/// <summary>
/// The backlog of a node, and the links whose producers wait until the node has room again. A link that nobody holds, and whose peer takes nothing, gives up its room
/// when others want it. Source: links.md#only-who-is-asked-for-is-dialled.
/// </summary>
internal sealed class LinkBacklog(long limit) : NodeBacklog(limit)
{
    /// <summary>The time between two looks for such links while others want room. A look that comes later by as much again proves no silence: this process stood still.</summary>
    public const long SeekEvery = 250_000_000;

    /// <summary>How many links may end at one look, which scans all links for each of them.</summary>
    public const int MostAtOnce = 64;

    // How long a link that nobody holds must be silent, with bytes queued, before it gives up its room.
    private const long Silence = 3_000_000_000;

    private readonly List<LinkSession> _waiting = [];

    /// <summary>Whether room is wanted: the node is full, so that its callers are refused; or links wait, and not enough is free for them.</summary>
    public bool IsSought => IsFull || (_waiting.Count > 0 && !IsFree);

    /// <summary>Whether enough of a full node is free again for the links that wait.</summary>
    public bool MayReopen => _waiting.Count > 0 && IsFree;

    /// <summary>
    /// Whether a link gives up its room to others: nobody holds it, and for at least <see cref="Silence"/> bytes have been queued and its other end, which may be
    /// gone, was silent. A caller that uses a link without holding it opens the link again for each frame.
    /// </summary>
    public static bool Gives(LinkSession session, int holds, long heardAt, long now) =>
        holds == 0 && session is { IsClosed: false, IsForeign: false, Backlog: > 0 } && now - Math.Max(heardAt, session.QueuedAt) >= Silence;

    /// <summary>The links whose producers wait for room of the node; empties the list.</summary>
    public LinkSession[] TakeWaiting()
    {
        var waiting = _waiting.ToArray();
        _waiting.Clear();
        foreach (var session in waiting) session.LeaveWaiting();
        return waiting;
    }

    public void Wait(LinkSession session) => _waiting.Add(session);
}
