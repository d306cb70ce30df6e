namespace GroupCore.Transport.Mesh;

/// <summary>The backlog of a node, and the links whose producers wait until it is free again.</summary>
internal sealed class LinkBacklog(long limit) : NodeBacklog(limit)
{
    /// <summary>How long a link that nobody asks for has to be silent to give its room to those that wait.</summary>
    public const long Silence = 3_000_000_000;

    /// <summary>How often such links are looked for while others wait.</summary>
    public const long SeekEvery = 250_000_000;

    private readonly List<LinkSession> _waiting = [];

    /// <summary>Called for each link that begins to wait.</summary>
    public Action? OnWait { get; set; }

    /// <summary>Whether links wait, and not enough is free for them.</summary>
    public bool IsSought => _waiting.Count > 0 && !IsFree;

    /// <summary>Whether enough of a full node is free again for the links that wait.</summary>
    public bool MayReopen => _waiting.Count > 0 && IsFree;

    /// <summary>The links whose producers wait for room of the node; empties the list.</summary>
    public LinkSession[] TakeWaiting()
    {
        var waiting = _waiting.ToArray();
        _waiting.Clear();
        foreach (var session in waiting) session.WaitsForNode = false;
        return waiting;
    }

    public void Wait(LinkSession session)
    {
        _waiting.Add(session);
        OnWait?.Invoke();
    }
}
