namespace Oracle.Raft;

/// <summary>
/// A saved state on its way to one replica, in parts that the replica acknowledges, with at most 1 MiB unacknowledged. So a state of any size leaves room on the link, and
/// heartbeats pass between the parts. Parts lost with a link are sent again, from what the receiver holds; parts that still wait in a link are not.
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

    /// <summary>Whether the receiver has taken nothing for so long that parts may be lost.</summary>
    public bool IsOverdue(long now) => !IsIdle && now - _progressAt >= Patience;

    /// <summary>Where the link's stream ended after the last part that was sent.</summary>
    public LinkMark End { get; set; }

    /// <summary>Goes back to what the receiver holds: the parts after that are lost and are sent again.</summary>
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

    /// <summary>The receiver says how many bytes it holds.</summary>
    public void Held(int bytes, long now)
    {
        if (bytes > saved.Bytes.Length) return;
        if (bytes > _held) _progressAt = now;
        _held = bytes;
        _sent = Math.Max(_sent, _held);
    }
}
