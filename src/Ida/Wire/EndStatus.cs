namespace Ida.Wire;

/// <summary>What the member of a session knows of one of its puts.</summary>
internal enum EndStatus : byte
{
    /// <summary>Nothing, or nothing any more.</summary>
    Forgotten,

    /// <summary>It is under way.</summary>
    UnderWay,

    Executed,

    /// <summary>The id stands for other pairs.</summary>
    OtherPairs,

    /// <summary>A member's hash refused all attempts of the member that issued it. Whether a retry of another member was executed is not said.</summary>
    Misplaced,

    /// <summary>No put was given its id, nor will one be that somebody has made up.</summary>
    NeverGiven,
}
