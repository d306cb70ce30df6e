namespace Ida.Wire;

/// <summary>What the member of a session knows of the end of one of its puts.</summary>
internal enum EndStatus : byte
{
    /// <summary>Nothing, or nothing any more.</summary>
    Forgotten,

    /// <summary>It is under way.</summary>
    UnderWay,

    Executed,

    /// <summary>The id stands for other pairs.</summary>
    OtherPairs,

    /// <summary>A member's hash, or a member that lacked its map, kept all attempts of the member that issued the put from execution. Another member's retry may still have been executed.</summary>
    Misplaced,

    /// <summary>No put was given this id, and none will get an id that a caller made up.</summary>
    NeverGiven,
}
