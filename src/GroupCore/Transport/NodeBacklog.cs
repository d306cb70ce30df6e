using GroupCore.Runtime;

namespace GroupCore.Transport;

/// <summary>Unacknowledged bytes of all links of one node, and how fast they become less. Belongs to the loop.</summary>
internal sealed class NodeBacklog(long limit)
{
    private readonly List<LinkSession> _waiting = [];
    private DrainRate _rate = new();

    /// <summary>Bytes queued and not acknowledged.</summary>
    public long Bytes { get; private set; }

    /// <summary>Whether producers of bulk have to wait, whomever it is for.</summary>
    public bool IsFull => Bytes >= limit;

    /// <summary>Whether so much of a full node is free again that those that wait for it may go on.</summary>
    public bool MayReopen => _waiting.Count > 0 && Bytes <= Reopening;

    private long Reopening => limit - (limit / 8);

    /// <summary>Links whose producers wait because of the others; empties the list.</summary>
    public LinkSession[] TakeWaiting()
    {
        var waiting = _waiting.ToArray();
        _waiting.Clear();
        foreach (var session in waiting) session.WaitsForNode = false;
        return waiting;
    }

    public void Wait(LinkSession session) => _waiting.Add(session);

    public void Add(long bytes) => Bytes += bytes;

    /// <summary>Bytes are acknowledged, or dropped with their link.</summary>
    public void Remove(long bytes)
    {
        Bytes -= bytes;
        _rate.Add(bytes);
    }

    /// <summary>How long, at the rate of the last moments, until there is room again; between 1 ms and 1 s.</summary>
    public TimeSpan TimeToRoom(long now)
    {
        Measure(now);
        return _rate.TimeFor(Math.Max(0, Bytes - Reopening));
    }

    /// <summary>To be called now and then: keeps the rate.</summary>
    public void Measure(long now) => _rate.Measure(now);
}
