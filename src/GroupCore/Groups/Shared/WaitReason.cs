namespace GroupCore.Groups.Shared;

/// <summary>Why a member that is alive has not acknowledged a flush; on the wire.</summary>
internal enum WaitReason : byte
{
    None = 0,

    /// <summary>Handlers of its users are at work.</summary>
    OwnCode = 1,

    /// <summary>Handlers elsewhere are at work for messages that its handlers sent; or what it lacks is on its way; or its hooks are at work, for a bounded time.</summary>
    Others = 2,

    /// <summary>The members that it names are alive, and slower than the group's options allow.</summary>
    TooSlow = 3,

    /// <summary>Handlers of its users were at work, and have ended.</summary>
    Ended = 4,
}
