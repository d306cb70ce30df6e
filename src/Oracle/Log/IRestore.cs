namespace Oracle.Log;

/// <summary>A saved state that comes in parts. It is read as it comes: all of it in one turn would hold the replica up for so long that it is taken for dead.</summary>
internal interface IRestore
{
    /// <summary>Reads on in the bytes that have come so far, from the first on; false when they are no saved state.</summary>
    bool TryRead(ReadOnlySpan<byte> come, bool all);

    /// <summary>Puts what was read in the place of the whole state, when all of it was.</summary>
    void Finish();
}
