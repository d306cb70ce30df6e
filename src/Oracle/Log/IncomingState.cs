namespace Oracle.Log;

/// <summary>A saved state that a leader sends in parts, as far as it has come.</summary>
internal sealed class IncomingState(ulong term, ulong index, int total, IRestore restore)
{
    private const int LeastBytes = 1 << 20;
    private byte[] _bytes = [];

    /// <summary>The last entry within the state.</summary>
    public ulong Index => index;

    /// <summary>How much of it has come.</summary>
    public int Count { get; private set; }

    /// <summary>False when it turned out to be no saved state.</summary>
    public bool IsSound { get; private set; } = true;

    public bool IsWhole => Count == total;

    /// <summary>All of it.</summary>
    public ReadOnlyMemory<byte> Bytes => _bytes.AsMemory(0, Count);

    public bool IsOf(SnapshotChunk chunk) => (chunk.Term, chunk.LastIndex, chunk.Total) == (term, index, total);

    /// <summary>What does not fit on is a part sent again, or follows one that was lost.</summary>
    public void Take(SnapshotChunk chunk)
    {
        var part = chunk.Bytes.Span;
        if (chunk.Offset != Count || part.Length > total - Count) return;
        // It is moved a few times only: to move 256 MiB takes as long as some heartbeats.
        if (Count + part.Length > _bytes.Length) Array.Resize(ref _bytes, (int)Math.Min(total, Math.Max(LeastBytes, 4L * (Count + part.Length))));
        part.CopyTo(_bytes.AsSpan(Count));
        Count += part.Length;
        IsSound = IsSound && restore.TryRead(Bytes.Span, IsWhole);
    }

    /// <summary>Puts it in the place of the state.</summary>
    public void Finish() => restore.Finish();
}
