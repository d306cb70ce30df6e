using GroupCore.Basics;

namespace GroupCore.Transport;

/// <summary>
/// Unacknowledged bytes of all links of one node, and how fast they drain. Belongs to the loop, except for the bytes of calls that wait to be sent, which
/// callers take on any thread. Only bytes on links make links full: otherwise waiting calls could never be sent. Calls are taken as long as both together
/// keep within the limit.
/// </summary>
internal class NodeBacklog(long limit)
{
    private DrainRate _rate = new();
    private long _bytes;
    private long _callBytes;

    /// <summary>Bytes queued and not acknowledged.</summary>
    public long Bytes
    {
        get => Volatile.Read(ref _bytes);
        private set => Volatile.Write(ref _bytes, value);
    }

    /// <summary>Bytes taken for calls that wait to be sent; from any thread.</summary>
    public long CallBytes => Volatile.Read(ref _callBytes);

    /// <summary>Whether producers of bulk have to wait, whichever peer they send to.</summary>
    public bool IsFull => Bytes >= limit;

    /// <summary>Whether enough of a node that was full is free again.</summary>
    protected bool IsFree => Bytes <= Reopening;

    private long Reopening => limit - (limit / 8);

    public void Add(long bytes) => Bytes += bytes;

    /// <summary>Bytes are acknowledged, or dropped with their link.</summary>
    public void Remove(long bytes)
    {
        Bytes -= bytes;
        _rate.Add(bytes);
    }

    /// <summary>How long until there is room again, at the latest rate; between 1 ms and 1 s.</summary>
    public TimeSpan TimeToRoom(long now)
    {
        Measure(now);
        return _rate.TimeFor(Math.Max(0, Bytes - Reopening));
    }

    /// <summary>
    /// From any thread: takes bytes for calls that wait to be sent; false when calls and links together would hold too much. A call gets any number of bytes if no
    /// other call holds some: a message may be larger than the limit.
    /// </summary>
    public bool TryTakeForCalls(long bytes)
    {
        long held = Interlocked.Add(ref _callBytes, bytes);
        if (held == bytes || held + Bytes <= limit) return true;
        ReturnOfCalls(bytes);
        return false;
    }

    /// <summary>From any thread: gives back the bytes of calls that have ended or were sent; the bytes of sent calls count with the links, if at all.</summary>
    public void ReturnOfCalls(long bytes) => Interlocked.Add(ref _callBytes, -bytes);

    /// <summary>From any thread: how long until <paramref name="bytes"/> may be taken for calls, at the latest rate; between 1 ms and 1 s.</summary>
    public TimeSpan TimeToCalls(long bytes) => _rate.TimeFor(Math.Max(0, Bytes + CallBytes + bytes - limit));

    /// <summary>Keeps the rate up to date; call it now and then.</summary>
    public void Measure(long now) => _rate.Measure(now);
}
