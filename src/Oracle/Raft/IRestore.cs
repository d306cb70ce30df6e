namespace Oracle.Raft;

/// <summary>A saved state that arrives in parts and is read as it arrives. Read in one turn, it would hold the replica up so long that others take it for dead.</summary>
internal interface IRestore
{
    /// <summary>Reads on in <paramref name="come"/>, which holds all bytes received so far; false when they are not a saved state.</summary>
    bool TryRead(ReadOnlySpan<byte> come, bool all);

    /// <summary>Replaces the whole state by what was read, once everything has been read.</summary>
    void Finish();
}
