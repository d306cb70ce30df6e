namespace GroupCore.Transport.Mesh;

/// <summary>
/// The backlog of a node, and the links whose producers wait until it is free again. Links that nobody needs, and that take nothing, give their room where others want it.
/// Source: links.md#only-who-is-asked-for-is-dialled.
/// </summary>
internal sealed class LinkBacklog(long limit) : NodeBacklog(limit)
{
    /// <summary>How often such links are looked for while others want room. A look that is later than that again proves no silence: this process stood still.</summary>
    public const long SeekEvery = 250_000_000;

    /// <summary>How many may end at one look, which passes over all links for each.</summary>
    public const int MostAtOnce = 64;

    // How long a link that nobody holds has to be silent, and to have something queued, to give its room.
    private const long Silence = 3_000_000_000;

    private readonly List<LinkSession> _waiting = [];

    /// <summary>Whether room is wanted: the node is full, so that its callers are refused; or links wait, and not enough is free for them.</summary>
    public bool IsSought => IsFull || (_waiting.Count > 0 && !IsFree);

    /// <summary>Whether enough of a full node is free again for the links that wait.</summary>
    public bool MayReopen => _waiting.Count > 0 && IsFree;

    /// <summary>
    /// Whether a link gives its room to others: nobody holds it, and its other end, which may be gone, was silent for all the time for which something has been queued, or for so long.
    /// Who asks for a link without holding it asks again for each frame.
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
