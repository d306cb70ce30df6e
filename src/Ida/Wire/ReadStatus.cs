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
}
