namespace Oracle.Log;

/// <summary>
/// A saved state on its way to one replica: parts that it acknowledges, 1 MiB of them unacknowledged at most, so that a state of any size
/// leaves the link its room and heartbeats pass between the parts. What is lost with a link is sent again from where the receiver stands, and
/// nothing that still waits in one.
/// </summary>
internal sealed class SnapshotTransfer((ulong Index, ulong Term, Configuration Configuration, ReadOnlyMemory<byte> Bytes) saved, long now)
{
    private const int Window = 4 * SnapshotChunk.MaxBytes;
    private const long Patience = Durations.Second;
    private long _progressAt = now;
    private int _sent;
    private int _held;

    /// <summary>The last entry within the state.</summary>
    public ulong Index => saved.Index;

    /// <summary>Whether the receiver has taken all that was sent.</summary>
    public bool IsIdle => _sent == _held;

    /// <summary>Whether it has taken nothing for so long that what was sent may be lost.</summary>
    public bool IsOverdue(long now) => !IsIdle && now - _progressAt >= Patience;

    /// <summary>Where the link's stream ended behind the last part.</summary>
    public LinkMark End { get; set; }

    /// <summary>What the receiver has not taken is lost: it is sent again.</summary>
    public void Rewind(long now) => (_sent, _progressAt) = (_held, now);

    /// <summary>The next part to send; null until the receiver has taken more.</summary>
    public SnapshotChunk? Next(ulong term, long now)
    {
        if (IsIdle) _progressAt = now;
        if (_sent == saved.Bytes.Length || _sent - _held >= Window) return null;
        int offset = _sent, length = Math.Min(SnapshotChunk.MaxBytes, saved.Bytes.Length - offset);
        _sent += length;
        return new(term, saved.Index, saved.Term, saved.Configuration, offset, saved.Bytes.Length, saved.Bytes.Slice(offset, length));
    }

    /// <summary>The receiver holds so many bytes.</summary>
    public void Held(int bytes, long now)
    {
        if (bytes > saved.Bytes.Length) return;
        if (bytes > _held) _progressAt = now;
        _held = bytes;
        _sent = Math.Max(_sent, _held);
    }
}
