namespace GroupCore.Transport;

/// <summary>Unacknowledged bytes of all links of one node, and how fast they become less. Belongs to the loop.</summary>
internal sealed class NodeBacklog(long limit)
{
    private const long WindowNanoseconds = 50_000_000;
    private static readonly TimeSpan s_least = TimeSpan.FromMilliseconds(1), s_most = TimeSpan.FromSeconds(10);
    private readonly List<LinkSession> _waiting = [];
    private long _acknowledged, _acknowledgedBefore;
    private long _windowAt = long.MinValue;
    private double _rate;

    /// <summary>Bytes queued and not acknowledged.</summary>
    public long Bytes { get; private set; }

    /// <summary>Whether producers of bulk have to wait, whomever it is for.</summary>
    public bool IsFull => Bytes >= limit;

    /// <summary>Whether so much of a full node is free again that those that wait for it may go on.</summary>
    public bool MayReopen => _waiting.Count > 0 && Bytes <= limit - (limit / 8);

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
        _acknowledged += bytes;
    }

    /// <summary>How long, at the rate of the last moments, until there is room again; between 1 ms and 10 s.</summary>
    public TimeSpan TimeToRoom(long now)
    {
        Measure(now);
        double excess = Math.Max(0, Bytes - (limit - (limit / 8)));
        double seconds = _rate > 0 ? excess / _rate : s_most.TotalSeconds;
        return TimeSpan.FromSeconds(Math.Clamp(seconds, s_least.TotalSeconds, s_most.TotalSeconds));
    }

    /// <summary>To be called now and then: keeps the rate of what goes.</summary>
    public void Measure(long now)
    {
        if (_windowAt == long.MinValue) _windowAt = now;
        long time = now - _windowAt;
        if (time < WindowNanoseconds) return;
        double latest = (_acknowledged - _acknowledgedBefore) * 1e9 / time;
        // The last window counts half, so an idle moment does not make a node look dead, nor a burst make it look fast for long.
        _rate = _rate == 0 ? latest : (_rate + latest) / 2;
        (_windowAt, _acknowledgedBefore) = (now, _acknowledged);
    }
}
