namespace Ida.Wire;

/// <summary>Answer to a one-key read.</summary>
internal enum ReadStatus : byte
{
    /// <summary>The key has a value.</summary>
    Found,

    /// <summary>It has none.</summary>
    Absent,

    /// <summary>The member asked has no state to read from.</summary>
    NotFull,

    /// <summary>Too many reads wait there.</summary>
    Overloaded,

    /// <summary>By the user's hash, as it is there, the key does not lie there; or the hash throws there.</summary>
    Misplaced,
}
