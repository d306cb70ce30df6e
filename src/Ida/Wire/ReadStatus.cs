namespace Ida.Wire;

/// <summary>Answer to a one-key read.</summary>
internal enum ReadStatus : byte
{
    /// <summary>The key has a value.</summary>
    Found,

    /// <summary>The key has no value.</summary>
    Absent,

    /// <summary>The member asked has no state to read from.</summary>
    NotInitialised,

    /// <summary>Too many reads wait at the member asked.</summary>
    Overloaded,

    /// <summary>By that member's version of the user's hash, the key does not belong to its shard; or the hash throws there.</summary>
    Misplaced,
}
