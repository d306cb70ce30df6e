namespace Oracle.Raft;

/// <summary>A saved state that arrives in parts, and is read as it arrives: if it were read in one turn, the replica would be held up so long that it is taken for dead.</summary>
internal interface IRestore
{
    /// <summary>Reads on in <paramref name="come"/>, the bytes received so far from the first on; false when they are no saved state.</summary>
    bool TryRead(ReadOnlySpan<byte> come, bool all);

    /// <summary>Replaces the whole state by what was read, once everything was.</summary>
    void Finish();
}
