namespace Oracle.Raft;

/// <summary>A saved state that a leader sends in parts, as far as it has arrived.</summary>
internal sealed class IncomingState(ulong term, ulong index, int total, IRestore restore)
{
    private const int LeastBytes = 1 << 20;
    private byte[] _bytes = [];

    /// <summary>The last entry within the state.</summary>
    public ulong Index => index;

    /// <summary>Number of bytes that have arrived.</summary>
    public int Count { get; private set; }

    /// <summary>False when the bytes turned out to be no saved state.</summary>
    public bool IsSound { get; private set; } = true;

    public bool IsWhole => Count == total;

    /// <summary>The bytes that have arrived.</summary>
    public ReadOnlyMemory<byte> Bytes => _bytes.AsMemory(0, Count);

    public bool IsOf(SnapshotChunk chunk) => (chunk.Term, chunk.LastIndex, chunk.Total) == (term, index, total);

    /// <summary>Takes the next part. A part that does not fit is ignored: it was sent again, or follows one that was lost.</summary>
    public void Take(SnapshotChunk chunk)
    {
        var part = chunk.Bytes.Span;
        if (chunk.Offset != Count || part.Length > total - Count) return;
        // Grows in few steps, since each step copies: moving 256 MiB takes as long as several heartbeats.
        if (Count + part.Length > _bytes.Length) Array.Resize(ref _bytes, (int)Math.Min(total, Math.Max(LeastBytes, 4L * (Count + part.Length))));
        part.CopyTo(_bytes.AsSpan(Count));
        Count += part.Length;
        IsSound = IsSound && restore.TryRead(Bytes.Span, IsWhole);
    }

    /// <summary>Replaces the current state by this one.</summary>
    public void Finish() => restore.Finish();
}
