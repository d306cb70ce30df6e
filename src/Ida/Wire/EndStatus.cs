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

    /// <summary>A member's hash refused it: nothing was executed.</summary>
    Misplaced,
}
