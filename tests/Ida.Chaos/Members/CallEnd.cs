namespace Ida.Chaos.Members;

/// <summary>What is known of a call that has ended.</summary>
internal enum CallEnd
{
    Done,

    /// <summary>It was not done, and will not be.</summary>
    NotDone,

    /// <summary>It may have been done, or the caller's part is over.</summary>
    Perhaps,
}
