namespace GroupCore.Transport.Mesh;

/// <summary>The backlog of a node, and the links whose producers wait until it is free again.</summary>
internal sealed class LinkBacklog(long limit) : NodeBacklog(limit)
{
    private readonly List<LinkSession> _waiting = [];

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

    public void Wait(LinkSession session) => _waiting.Add(session);
}
